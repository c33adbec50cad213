"""Work on what is due: one bad file stops no other, an outage loses nothing, a stop gives everything back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import pytest

from ingestd import failpoints
from ingestd.daemon import changes
from ingestd.errors import AdapterUnavailable, CorruptFile, EmbedderUnavailable, StoreUnavailable
from ingestd.pipeline import sync as pass_over
from ingestd.pipeline.scan import scan_roots
from ingestd.state import outcomes
from ingestd.testing.counting_embedder import CountingEmbedder
from tests.unit.pipeline.site import Site


class Containing(frozenset[str]):
    """Holds each text with the word in it."""

    def __new__(cls, word: str) -> Self:
        made = super().__new__(cls)
        made.word = word
        return made

    def __contains__(self, text: object) -> bool:
        return self.word in str(text)


class FallibleEmbedder(CountingEmbedder):
    """Ends at texts with a word in them, or at every text."""

    word = "poison"
    down = False

    def embed_documents(self, texts: Any) -> Any:
        if self.down or any(self.word in text for text in texts):
            raise EmbedderUnavailable("the embedder died twice over the same batch")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        if self.down:
            raise EmbedderUnavailable("the embedder does not start")
        return super().embed_query(text)


@contextmanager
def at_each_failpoint(reached: Callable[[str], None]) -> Iterator[None]:
    failpoints.arm("", reached=reached)
    try:
        yield
    finally:
        failpoints.arm("")


def sections(*names: str) -> str:
    return "\n".join(f"# {name}\n\n" + f"All about {name} here. " * 60 + "\n" for name in names)


def claims(site: Site) -> set[tuple[int, int]]:
    return {(site.source(path.removeprefix("docs/")).attempts, site.source(path.removeprefix("docs/")).crashes)
            for path, state in site.states().items() if state == "pending"}  # fmt: skip


def test_one_text_with_unusable_vectors_quarantines_only_its_document(site: Site) -> None:
    site.embedder.unusable = Containing("poison")
    for name in ("a", "b", "c"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    site.write("bad.md", "All poison.\n")
    site.sync()
    assert set(site.texts()) == {"docs/a.md", "docs/b.md", "docs/c.md"}
    assert (site.failed()["bad.md"]["stage"], site.failed()["bad.md"]["error"]) == ("embed", "BadVectors")


def test_a_document_that_ends_the_embedder_is_quarantined_after_three_attempts(site: Site) -> None:
    site.embedder = FallibleEmbedder()
    site.write("a.md", "Text of a.\n")
    site.write("bad.md", "All poison.\n")
    for _ in range(3):
        site.sync()
        assert set(site.texts()) == {"docs/a.md"}
        site.time.ahead += 3600
    assert site.failed()["bad.md"]["error"] == "EmbedderUnavailable"


def test_an_embedder_that_is_down_quarantines_nothing(site: Site) -> None:
    site.embedder = embedder = FallibleEmbedder()
    site.write("a.md", "Text of a.\n")
    site.write("b.md", "Text of b.\n")
    embedder.down = True
    for _ in range(5):
        with pytest.raises(EmbedderUnavailable):
            site.sync()
        site.time.ahead += 61
    assert site.failed() == {}
    embedder.down = False
    site.sync()
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}


def test_a_bug_in_a_converter_is_tried_three_times_then_quarantined_under_its_name(site: Site) -> None:
    def convert(name: str) -> None:
        if name == "bad.md":
            raise ZeroDivisionError("of the converter")

    site.before_convert = convert
    site.write("bad.md", "Text.\n")
    site.write("good.md", "Good text.\n")
    for attempt in (1, 2, 3):
        site.sync()
        assert site.source("bad.md").attempts == attempt
        assert ("ZeroDivisionError" in str(site.deferred())) == (attempt < 3)
        site.sync()
        assert site.source("bad.md").attempts == attempt, "the back-off was not waited for"
        site.time.ahead += 3600
    assert (site.failed()["bad.md"]["error"], site.failed()["bad.md"]["stage"]) == ("ZeroDivisionError", "convert")
    assert set(site.texts()) == {"docs/good.md"}


def test_an_engine_that_does_not_start_is_no_fault_of_the_file(site: Site) -> None:
    def convert(_name: str) -> None:
        raise AdapterUnavailable("install ingestd[docling]")

    site.before_convert = convert
    site.write("a.md", "Text.\n")
    for _ in range(5):
        site.sync()
        assert site.failed() == {}
        assert "ingestd[docling]" in site.deferred()["a.md"]["reason"]
        site.time.ahead += 7 * 3600


def test_a_copy_of_a_bad_file_is_not_converted_again(site: Site) -> None:
    tried: list[str] = []

    def convert(name: str) -> None:
        tried.append(name)
        raise CorruptFile("the engine cannot read it")

    site.before_convert = convert
    site.write("bad.md", "Bad.\n")
    site.sync()
    site.write("copy.md", "Bad.\n")
    site.sync()
    assert set(site.failed()) == {"bad.md", "copy.md"}
    assert tried == ["bad.md"]


def test_a_source_that_was_in_work_at_each_crash_is_quarantined_and_the_others_go_on(site: Site) -> None:
    tried: list[str] = []
    site.before_convert = tried.append
    for name in ("a", "poison", "z"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    site.stop.set()
    site.sync()
    site.stop.clear()
    scan_roots(site.parts(), site.tally)
    for _ in range(3):
        with site.ledger.write("claim") as transaction:
            outcomes.claim(transaction, [site.source("poison.md").id])
    site.sync()
    assert site.failed()["poison.md"]["error"] == "RepeatedCrash"
    assert set(site.texts()) == {"docs/a.md", "docs/z.md"}


def test_what_was_in_work_at_a_crash_is_tried_last_and_alone(site: Site) -> None:
    tried: list[str] = []
    for name in ("a", "b", "y", "z"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    scan_roots(site.parts(), site.tally)
    with site.ledger.write("claim") as transaction:
        outcomes.claim(transaction, [site.source("a.md").id, site.source("b.md").id])
    site.before_convert = tried.append
    site.sync()
    assert set(tried[:2]) == {"y.md", "z.md"}
    assert set(tried[2:]) == {"a.md", "b.md"}
    assert set(site.states().values()) == {"done"}
    assert site.source("a.md").crashes == 0


@pytest.mark.parametrize("nth", range(1, 8))
def test_a_store_that_fails_in_the_middle_loses_nothing(site: Site, nth: int) -> None:
    site.write("a.md", sections("one", "two"))
    site.write("b.md", sections("three"))
    site.sync()
    site.write("a.md", sections("two", "four"))
    site.write("b.md", sections("three", "five"))
    calls: list[str] = []

    def fail(kind: str) -> None:
        calls.append(kind)
        if len(calls) == nth:
            raise StoreUnavailable(f"no answer to {kind}")

    site.before_write = fail
    if nth <= 5:
        with pytest.raises(StoreUnavailable):
            site.sync()
    site.before_write = lambda _kind: None
    site.time.ahead += 61
    site.sync()
    assert site.deferred() == site.failed() == {}
    texts = site.texts()
    assert ("All about four" in texts["docs/a.md"], "All about one" in texts["docs/a.md"]) == (True, False)
    assert "All about five" in texts["docs/b.md"]
    assert len({payload["doc_version"] for payload in site.payloads()}) == 1


def test_after_a_long_outage_of_the_store_all_goes_on_within_a_minute(site: Site) -> None:
    def fail(_kind: str) -> None:
        raise StoreUnavailable("no answer")

    site.write("a.md", "Text.\n")
    site.before_write = fail
    for _ in range(8):
        with pytest.raises(StoreUnavailable):
            site.sync()
        site.time.ahead += 61
    site.before_write = lambda _kind: None
    site.sync()
    assert site.states() == {"docs/a.md": "done"}


def test_a_payload_that_the_store_refuses_quarantines_its_document_in_its_stage(site: Site) -> None:
    def refuse(kind: str) -> None:
        if kind == "upsert":
            raise ValueError("the payload field 'meta' cannot be stored")

    site.write("a.md", "Text.\n")
    site.before_write = refuse
    for _ in range(3):
        site.sync()
        site.time.ahead += 3600
    assert (site.failed()["a.md"]["stage"], site.failed()["a.md"]["error"]) == ("publish", "ValueError")


_STOPS = ("ledger.claim.after", "ledger.intent.after", "publish.upsert.flushed", "ledger.serve.before",
          "ledger.serve.after", "publish.outbox.flushed")  # fmt: skip


def test_a_stop_at_any_point_gives_the_claims_back(site: Site) -> None:
    site.write("a.md", sections("begin"))
    site.write("b.md", "Never changes.\n")
    site.sync()
    for number, where in enumerate(_STOPS):
        site.write("a.md", sections("begin", str(number)))
        site.write(f"new{number}.md", f"New text {number}.\n")
        with at_each_failpoint(lambda name, where=where: site.stop.set() if name == where else None):
            assert site.sync().stopped
        assert claims(site) <= {(0, 0)}, where
        site.stop.clear()
    site.sync()
    assert set(site.states().values()) == {"done"}
    assert f"All about {len(_STOPS) - 1}" in site.texts()["docs/a.md"]


def test_a_stop_during_a_conversion_gives_the_claim_back(site: Site) -> None:
    site.before_convert = lambda _name: site.stop.set()
    site.write("a.md", "Text.\n")
    site.write("b.md", "Text.\n")
    assert site.sync().stopped
    assert claims(site) == {(0, 0)}
    assert site.states() == {"docs/a.md": "pending", "docs/b.md": "pending"}


def test_a_stop_while_each_document_is_tried_alone_gives_all_claims_back(site: Site) -> None:
    site.embedder.unusable = Containing("poison")
    for name in ("a", "b", "c"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    site.write("bad.md", "All poison.\n")
    failures: list[int] = []

    def between() -> None:
        if len(site.embedder.batches) >= 2 and not failures:
            failures.append(1)
            site.stop.set()

    site.between = between
    assert site.sync().stopped
    assert failures
    assert claims(site) == {(0, 0)}


def test_a_document_forgotten_while_it_is_embedded_is_not_served(site: Site) -> None:
    site.write("a.md", sections("one"))
    site.sync()
    site.write("a.md", sections("one", "two"))
    forgotten: list[int] = []

    def between() -> None:
        if site.embedder.batches and not forgotten:
            forgotten.append(1)
            changes.forget(site.parts(), ["a.md"])

    site.between = between
    site.sync()
    assert forgotten
    assert site.states() == {"docs/a.md": "forgotten"}
    assert site.texts() == {}


def test_a_file_that_changes_while_it_is_converted_ends_with_its_newest_content(site: Site) -> None:
    path = site.write("a.md", "First.\n")
    parts = site.parts()

    def convert(_name: str) -> None:
        site.before_convert = lambda _name: None
        site.rewrite(path, "Second.\n")
        scan_roots(parts, site.tally)

    site.before_convert = convert
    site.sync()
    assert site.texts() == {"docs/a.md": "Second."}
    assert site.states() == {"docs/a.md": "done"}


def test_a_file_that_vanishes_between_scan_and_staging_is_gone(site: Site) -> None:
    path = site.write("a.md", "First.\n")
    site.write("b.md", "Text.\n")

    def reached(name: str) -> None:
        if name == "ledger.claim.after":
            path.unlink(missing_ok=True)

    with at_each_failpoint(reached):
        site.sync()
    assert site.states() == {"docs/b.md": "done"}
    assert site.failed() == site.deferred() == {}


def test_equal_files_of_two_roots_are_embedded_once_and_served_twice(site: Site) -> None:
    site.root("more")
    site.write("a.md", sections("one"))
    site.write("a.md", sections("one"), root="more")
    site.sync()
    assert set(site.texts()) == {"docs/a.md", "more/a.md"}
    assert set(site.embedder.embedded.values()) == {1}
    assert len({payload["doc_id"] for payload in site.payloads()}) == 2


def _large() -> str:
    return sections(*(f"part{number}" for number in range(400)))


def _embedded(site: Site) -> int:
    return sum(map(len, site.embedder.batches))


def test_small_documents_pass_a_large_one(site: Site) -> None:
    site.write("a-large.md", _large())
    for number in range(5):
        site.write(f"b{number}.md", f"Small text {number}.\n")
    embedded_by_first_write: list[int] = []
    site.before_write = lambda _kind: embedded_by_first_write.append(_embedded(site))
    site.sync()
    assert len(site.served()) == 6
    assert embedded_by_first_write[0] < 100
    assert site.tally.counts["embedded"] == _embedded(site) > 300
    assert site.tally.counts["vectors_reused"] == 0


def test_a_file_that_comes_while_a_large_one_is_embedded_is_served_before_it(site: Site) -> None:
    site.write("large.md", _large())
    parts = site.parts()
    came: list[int] = []
    served_at_writes: list[int] = []

    def arrive() -> None:
        if _embedded(site) > 40 and not came:
            came.append(_embedded(site))
            site.write("new.md", "New text.\n")
            scan_roots(parts, site.tally)

    site.between = arrive
    site.before_write = lambda kind: served_at_writes.append(len(site.served())) if kind == "upsert" else None
    pass_over.sync(parts, site.tally)
    assert came[0] < 200
    assert served_at_writes == [0, 1]
    assert len(site.served()) == 2


def test_a_stop_in_the_middle_of_a_large_document_gives_its_claim_back_and_embeds_no_text_twice(site: Site) -> None:
    site.write("large.md", _large())

    def stop() -> None:
        if _embedded(site) > 60:
            site.stop.set()

    site.between = stop
    site.sync()
    before = _embedded(site)
    assert site.served() == set()
    assert claims(site) == {(0, 0)}
    site.between = lambda: None
    site.stop.clear()
    site.sync()
    assert len(site.served()) == 1
    assert site.tally.counts["vectors_reused"] == before


def test_texts_that_were_embedded_before_a_stop_are_counted(site: Site) -> None:
    site.write("a.md", "".join(sections(f"Name {number}") for number in range(100)))

    def stop() -> None:
        if _embedded(site):
            site.stop.set()

    site.between = stop
    site.sync()
    assert site.served() == set()
    assert 0 < site.tally.counts["embedded"] == _embedded(site) < 100


def test_a_committed_document_is_logged_with_its_root_and_path(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.write("deep/a.md", "Text.\n")
    with caplog.at_level("INFO", "ingestd"):
        site.sync()
    (fields,) = [
        record.__dict__["ingestd_fields"] for record in caplog.records if record.getMessage() == "document.committed"
    ]
    assert (fields["root"], fields["path"], fields["chunks"]) == ("docs", b"deep/a.md", 1)
