"""What is converted in this process is read into memory, once; what another process reads is copied aside."""

from collections.abc import Iterator

import pytest

from ingestd import failpoints
from ingestd.pipeline import prepare
from tests.small_pdf import PDF
from tests.unit.pipeline.site import Site


@pytest.fixture
def reached() -> Iterator[list[str]]:
    seen: list[str] = []
    failpoints.arm("", reached=seen.append)
    yield seen
    failpoints.arm("")


def copies(reached: list[str]) -> int:
    return reached.count("stage.before_copy")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "README"])
def test_a_small_text_is_converted_without_a_copy_on_the_disk(site: Site, reached: list[str], name: str) -> None:
    site.write(name, "<html><p>Text.</p></html>" if name == "a.html" else "Text.\n")
    site.sync()
    assert site.texts() == {f"docs/{name}": "Text."}
    assert copies(reached) == 0


def test_a_large_text_is_copied_aside_and_the_copy_removed(
    site: Site, reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "HELD_BYTES", 10)
    site.write("a.md", "A text that is too large.\n")
    site.write("b.md", "Small.\n")
    site.sync()
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}
    assert copies(reached) == 1
    assert list(site.staging.iterdir()) == []


def test_a_file_that_is_not_what_its_name_promises_is_copied_for_the_one_who_reads_it(
    site: Site, reached: list[str]
) -> None:
    site.write("a.md", PDF)
    site.sync()
    assert site.texts() == {"docs/a.md": "A page of a small file."}
    assert site.source("a.md").mime == "application/pdf"
    assert copies(reached) == 1
    assert list(site.staging.iterdir()) == []


def test_a_page_of_html_under_the_name_of_a_text_needs_no_copy_either(site: Site, reached: list[str]) -> None:
    site.write("a.txt", "<!doctype html><html><body><p>Text.</p></body></html>")
    site.sync()
    assert site.texts() == {"docs/a.txt": "Text."}
    assert site.source("a.txt").mime == "text/html"
    assert copies(reached) == 0


def test_a_file_of_a_type_that_nothing_reads_leaves_no_copy_behind(site: Site) -> None:
    site.write("a.bin", "\0\1\2\3" * 99)
    site.sync()
    assert set(site.failed()) == {"a.bin"}
    assert list(site.staging.iterdir()) == []


def test_a_text_whose_conversion_is_lost_is_read_into_memory_again(site: Site, reached: list[str]) -> None:
    site.write("a.md", "Text.\n")
    site.sync()
    for entry in (site.directory / "conversions").rglob("*.z"):
        entry.unlink()
    site.chunker = type(site.chunker)(max_size=100)
    with site.ledger.write("again") as transaction:
        transaction.exec_driver_sql("UPDATE source SET state = 'pending'")
    site.sync()
    assert site.counts["converted"] == 1
    assert site.states() == {"docs/a.md": "done"}
    assert copies(reached) == 0
