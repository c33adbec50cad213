"""The main job: what is on the disk is what a search finds, and nothing is paid for twice."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ingestd.pipeline.scan import scan_roots
from ingestd.pipeline.tally import Tally
from ingestd.state import outcomes, sources
from tests.system.conftest import Program, sections

Write = Callable[..., Path]


def test_a_dropped_file_is_found(program: Program, write: Write) -> None:
    write("a.md", "# Alpha\n\nGrains grow until a barrier stops them.\n")
    report = program.sync()
    assert (report["added"], report["failed"], report["deferred"]) == (1, [], [])
    (hit,) = program.search("grains")
    assert hit["path"] == "a.md"
    assert hit["heading_path"] == ["# Alpha"]
    assert "barrier" in hit["body"]
    assert program.read("verify")["ok"]


def test_an_unchanged_folder_costs_nothing(program: Program, write: Write) -> None:
    write("a.md", sections("one", "two"))
    program.sync()
    report = program.sync()
    counts = ("converted", "chunks", "embedded", "points_written", "points_deleted", "added", "changed")
    assert [report[name] for name in counts] == [0] * len(counts)
    assert report["unchanged"] == 1


def test_an_edit_embeds_only_what_changed(program: Program, write: Write) -> None:
    write("a.md", sections("one", "two", "three"))
    first = program.sync()
    write("a.md", sections("one", "two", "three").replace("# two\n\n", "# two\n\nA new sentence. "))
    report = program.sync()
    assert report["changed"] == 1
    assert 0 < report["embedded"] < first["embedded"]
    assert any("A new sentence." in body for body in program.texts()["a.md"])
    assert program.read("verify")["ok"]


def test_a_revert_embeds_nothing(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    program.sync()
    write("a.md", sections("another"))
    program.sync()
    write("a.md", sections("one"))
    report = program.sync()
    assert (report["embedded"], report["converted"]) == (0, 0)
    assert all("one is what" in body for body in program.texts()["a.md"])


def test_a_rename_converts_and_embeds_nothing(program: Program, write: Write) -> None:
    before = write("a.md", sections("one", "two"))
    program.sync()
    before.rename(program.folder / "b.md")
    report = program.sync()
    assert (report["moved"], report["added"], report["removed"]) == (1, 0, 0)
    assert (report["embedded"], report["converted"]) == (0, 0)
    assert set(program.texts()) == {"b.md"}
    assert program.read("verify")["ok"]


def test_a_copy_converts_and_embeds_nothing(program: Program, write: Write) -> None:
    first = write("a.md", sections("one", "two"))
    program.sync()
    shutil.copy(first, program.folder / "copy.md")
    report = program.sync()
    assert (report["embedded"], report["converted"]) == (0, 0)
    assert set(program.texts()) == {"a.md", "copy.md"}


def test_a_deleted_file_is_gone_from_the_index(program: Program, write: Write) -> None:
    write("keep.md", sections("keep"))
    write("drop.md", sections("drop"))
    program.sync()
    (program.folder / "drop.md").unlink()
    report = program.sync()
    assert report["removed"] == 1
    assert report["points_deleted"] > 0
    assert set(program.texts()) == {"keep.md"}
    assert program.read("verify")["ok"]


def test_a_file_that_shrinks_leaves_no_stale_chunk(program: Program, write: Write) -> None:
    write("a.md", sections("one", "two", "three"))
    program.sync()
    write("a.md", sections("two"))
    program.sync()
    assert all("two is what" in body for body in program.texts()["a.md"])
    assert program.read("verify")["ok"]


def test_an_edit_that_keeps_size_and_mtime_is_seen(program: Program, write: Write) -> None:
    path = write("a.md", sections("one"))
    program.sync()
    status = path.stat()
    write("a.md", sections("two"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    program.sync()
    assert all("two is what" in body for body in program.texts()["a.md"])


def test_a_touch_embeds_nothing_and_updates_the_time(program: Program, write: Write) -> None:
    path = write("a.md", sections("one"))
    program.sync()
    os.utime(path, ns=(0, 1_000_000_000_000_000_000))
    report = program.sync()
    assert (report["embedded"], report["converted"], report["points_written"]) == (0, 0, 0)
    assert program.read("show", path="a.md")["modified_at"] == "2001-09-09T01:46:40Z"
    assert program.read("verify")["ok"]


def test_an_emptied_root_retires_nothing(program: Program, write: Write) -> None:
    for number in range(3):
        write(f"{number}.md", sections(str(number)))
    program.sync()
    for path in program.folder.iterdir():
        path.unlink()
    report = program.sync()
    assert report["held"] == 3
    assert report["points_deleted"] == 0
    assert len(program.texts()) == 3
    assert program.change("confirm", root=None, list=False)["confirmed"][0]["documents"] == 3
    program.sync()
    assert program.texts() == {}


def test_a_root_that_comes_back_costs_nothing(program: Program, write: Write) -> None:
    for number in range(3):
        write(f"{number}.md", sections(str(number)))
    program.sync()
    aside = program.folder.with_name("aside")
    program.folder.rename(aside)
    program.folder.mkdir()
    assert program.sync()["held"] == 3
    program.folder.rmdir()
    aside.rename(program.folder)
    report = program.sync()
    assert (report["held"], report["embedded"], report["converted"]) == (0, 0, 0)
    assert len(program.texts()) == 3


def test_a_mass_deletion_is_held_until_confirmed(program: Program, write: Write) -> None:
    for number in range(80):
        write(f"{number}.md", f"# {number}\n\nText of number {number}.\n")
    program.sync()
    for number in range(60):
        (program.folder / f"{number}.md").unlink()
    assert program.sync()["held"] == 60
    assert len(program.texts()) == 80
    program.change("confirm", root="docs", list=False)
    report = program.sync()
    assert report["held"] == 0
    assert len(program.texts()) == 20
    assert program.read("verify")["ok"]


def test_a_bad_file_stops_no_other(program: Program, write: Write) -> None:
    write("good.md", sections("good"))
    write("empty.md", "")
    write("binary.md", data=bytes(range(256)) * 20)
    os.mkfifo(program.folder / "pipe.md")
    (program.folder / "out.md").symlink_to("/etc/hostname")
    write(b"new\nline \xff.md", sections("odd"))
    report = program.sync()
    errors = {one["path"]: one["error"] for one in report["failed"]}
    assert errors == {"empty.md": "FileEmpty", "binary.md": "ContentMismatch"}
    assert set(program.texts()) == {"good.md", "new\nline \\xff.md"}
    (root,) = program.read("status")["roots"]
    assert {note["path"] for note in root["notes"]} == {"pipe.md", "out.md"}
    again = program.sync()
    assert again["converted"] == 0
    assert {one["attempts"] for one in again["failed"]} == {1}


def test_a_failing_edit_keeps_the_last_good_version(program: Program, write: Write) -> None:
    write("a.md", sections("good"))
    program.sync()
    write("a.md", data=bytes(range(256)) * 20)
    report = program.sync()
    assert report["stale_served"] == 1
    assert all("good is what" in body for body in program.texts()["a.md"])


def test_retract_takes_a_failing_document_out(program: Program, write: Write) -> None:
    retracting = program.with_settings(daemon=type(program.settings.daemon)(settle_seconds=0.0, on_failure="retract"))
    write("a.md", sections("good"))
    write("b.md", sections("other"))
    retracting.sync()
    write("a.md", data=bytes(range(256)) * 20)
    retracting.sync()
    assert set(retracting.texts()) == {"b.md"}


def test_a_mended_file_leaves_quarantine(program: Program, write: Write) -> None:
    write("a.md", data=bytes(range(256)) * 20)
    assert len(program.sync()["failed"]) == 1
    write("a.md", sections("mended"))
    assert program.sync()["failed"] == []
    assert set(program.texts()) == {"a.md"}


def test_forget_keeps_a_file_out_until_it_changes(program: Program, write: Write) -> None:
    path = write("a.md", sections("one"))
    write("b.md", sections("two"))
    program.sync()
    assert program.change("forget", paths=[str(path)])["forgotten"] == [{"root": "docs", "path": "a.md"}]
    program.sync()
    assert set(program.texts()) == {"b.md"}
    assert program.read("verify")["ok"]
    write("a.md", sections("one", "again"))
    program.sync()
    assert set(program.texts()) == {"a.md", "b.md"}


def test_retry_tries_a_quarantined_source_again(program: Program, write: Write) -> None:
    write("a.md", data=bytes(range(256)) * 20)
    program.sync()
    assert program.change("retry", paths=[], all=True)["retried"] == [{"root": "docs", "path": "a.md"}]
    (failed,) = program.sync()["failed"]
    assert failed["attempts"] == 1


def test_the_loss_of_the_ledger_doubles_nothing(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    write("gone.md", sections("gone"))
    write("b.md", sections("two"))
    program.sync()
    for file in program.state.glob("ledger.sqlite*"):
        file.unlink()
    (program.folder / "gone.md").unlink()
    program.sync()
    program.sync()
    assert set(program.texts()) == {"a.md", "b.md"}
    assert program.read("verify")["ok"]
    assert all(hit["doc_version"] == 2 for hit in program.search("anything"))


def test_the_loss_of_the_store_is_mended_without_embedding(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    program.sync()
    shutil.rmtree(program.state / "store")
    report = program.sync()
    assert report["embedded"] == 0
    assert set(program.texts()) == {"a.md"}
    assert program.read("verify")["ok"]


def test_a_pass_tries_at_once_what_was_put_off(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    with program.owner() as owner:
        parts = owner.parts(owner.register([program.folder]))
        scan_roots(parts, Tally())
        with owner.ledger.write("test") as transaction:
            (source,) = sources.in_state(transaction, "pending")
            outcomes.defer(transaction, source, 2**62, "the store was away")
    assert program.sync()["deferred"] == []
    assert set(program.texts()) == {"a.md"}
