"""Runs of work that end, and what they report."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingestd import failpoints
from ingestd.chunk import ChunkOptions
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.sync import code_of
from ingestd.daemon import passes
from ingestd.daemon.passes import Hooks
from ingestd.errors import ConfigurationError, CorruptFile, TransientError
from ingestd.pipeline import ingest
from ingestd.pipeline.scan import scan_roots
from ingestd.state import generations
from tests.unit.pipeline.site import Site, SiteOwner


def sync(site: Site, *folders: Path, hooks: Hooks | None = None) -> dict[str, Any]:
    return passes.sync(SiteOwner(site), folders, hooks or Hooks())  # type: ignore[arg-type]  # the site stands for it


def reindex(site: Site, **arguments: Any) -> dict[str, Any]:
    return passes.reindex(SiteOwner(site), arguments, Hooks())  # type: ignore[arg-type]  # as above


def numbers(site: Site) -> list[tuple[int, str]]:
    with site.ledger.read() as transaction:
        return [(row.generation.number, row.state) for row in generations.all_generations(transaction)]


def other_embedder(site: Site) -> None:
    site.embedder.version += 1
    site.renew_engines()


def test_a_pass_reports_all_that_the_contract_names(site: Site) -> None:
    site.write("a.md", "Text.\n")
    document = sync(site)
    assert code_of(document) is ExitCode.DONE
    assert {name: document[name] for name in ("seen", "added", "changed", "moved", "removed", "unchanged")} == {
        "seen": 1, "added": 1, "changed": 0, "moved": 0, "removed": 0, "unchanged": 0,
    }  # fmt: skip
    assert {name: document[name] for name in ("converted", "chunks", "embedded", "points_written")} == dict.fromkeys(
        ("converted", "chunks", "embedded", "points_written"), 1
    )
    assert (document["failed"], document["deferred"], document["held"], document["stale_served"]) == ([], [], 0, 0)
    assert (document["paused"], document["stopped"]) == ([], False)
    assert {"scan", "convert", "chunk", "embed", "publish"} <= document["stage_seconds"].keys()


def test_a_folder_that_cannot_be_looked_into_is_told_and_amiss(site: Site) -> None:
    site.write("sub/a.md", "Text.\n")
    sync(site)
    (site.directory / "docs" / "sub" / ".ingestignore").mkdir()
    document = sync(site)
    (unread,) = document["unread"]
    assert (unread["root"], unread["path"]) == ("docs", "sub")
    assert code_of(document) is ExitCode.AMISS
    assert site.texts().keys() == {"docs/sub/a.md"}


def test_only_the_folders_named_are_scanned(site: Site) -> None:
    for name in ("one/a.md", "two/b.md", "three/c.md"):
        site.write(name, f"Text of {name}.\n")
    docs = site.directory / "docs"
    sync(site, docs / "one", docs / "two")
    assert set(site.texts()) == {"docs/one/a.md", "docs/two/b.md"}
    sync(site)
    assert set(site.texts()) == {"docs/one/a.md", "docs/two/b.md", "docs/three/c.md"}


def test_a_pass_with_failures_is_amiss(site: Site) -> None:
    def convert(_name: str) -> None:
        raise CorruptFile("bad")

    site.write("a.md", "Text.\n")
    sync(site)
    site.write("a.md", "Other.\n")
    site.before_convert = convert
    document = sync(site)
    assert code_of(document) is ExitCode.AMISS
    assert (document["stale_served"], document["failed"][0]["stage"]) == (1, "convert")


def test_a_root_that_is_not_there_is_named_and_amiss(site: Site) -> None:
    site.write("a.md", "Text.\n")
    assert sync(site)["vanished"] == []
    docs = site.directory / "docs"
    docs.rename(site.directory / "away")
    document = sync(site)
    assert code_of(document) is ExitCode.AMISS
    assert [one["root"] for one in document["vanished"]] == ["docs"]
    assert str(docs) in document["vanished"][0]["reason"]
    assert set(site.texts()) == {"docs/a.md"}


def test_progress_tells_how_many_documents_are_done_of_how_many(site: Site) -> None:
    told: list[dict[str, Any]] = []
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    sync(site, hooks=Hooks(progress=told.append))
    assert {one["stage"] for one in told} >= {"documents", "converted"}
    bounded = [one for one in told if one["stage"] != "texts embedded"]
    assert all(one["done"] <= one["total"] for one in bounded)
    assert {one["total"] for one in bounded} == {3}


def test_a_source_is_freed_from_quarantine_by_a_stage_of_another_identity(site: Site) -> None:
    site.write("a.md", "# Only a heading\n\n---\n")
    site.write("b.md", "<!-- nothing -->\n")
    document = sync(site)
    stages = {one["path"]: one["stage"] for one in document["failed"]}
    assert stages.get("b.md") in ("chunk", "convert")
    with site.ledger.write("other") as transaction:
        transaction.exec_driver_sql("UPDATE quarantine SET stage_digest = 'of another recipe', attempts = 7")
    again = sync(site)
    assert {one["attempts"] for one in again["failed"]} == {1}
    with site.ledger.write("other") as transaction:
        transaction.exec_driver_sql("UPDATE quarantine SET attempts = 7")
    assert {one["attempts"] for one in sync(site)["failed"]} == {7}, "the recipe is the same: nothing is tried again"


def test_a_type_that_nothing_read_is_tried_again_when_something_reads_it(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    with site.ledger.write("plant") as transaction:
        transaction.exec_driver_sql("UPDATE source SET state = 'quarantined'")
        transaction.exec_driver_sql(
            "INSERT INTO quarantine(source_id, stage, stage_digest, error, reason, attempts, since_ns) "
            "VALUES(1, 'convert', '', 'UnsupportedType', 'nothing reads it', 1, 1)"
        )
    assert sync(site)["failed"] == []


def test_another_embedder_pauses_its_collection_and_no_other(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    other_embedder(site)
    site.root("new", collection="elsewhere")
    site.write("b.md", "Text of b.\n")
    site.write("c.md", "Text of c.\n", root="new")
    document = sync(site)
    assert document["paused"] == ["documents"]
    assert code_of(document) is ExitCode.AMISS
    assert site.states() == {"docs/a.md": "done", "docs/b.md": "pending", "new/c.md": "done"}
    with pytest.raises(ConfigurationError, match="--force"):
        reindex(site)


def test_another_embedder_pauses_its_collection_though_nothing_is_due(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    other_embedder(site)
    for _ in range(2):
        document = sync(site)
        assert (document["paused"], document["seen"], document["changed"]) == (["documents"], 1, 0)
        assert code_of(document) is ExitCode.AMISS
    site.embedder.version -= 1
    site.renew_engines()
    assert code_of(sync(site)) is ExitCode.DONE
    other_embedder(site)
    sync(site)
    reindex(site, force=True)
    assert sync(site)["paused"] == []


def test_a_rebuild_that_is_cut_short_is_finished_by_the_next_pass(site: Site) -> None:
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    sync(site)
    other_embedder(site)
    failpoints.arm("", reached=lambda name: site.stop.set() if name == "ledger.claim.after" else None)
    try:
        assert reindex(site, force=True)["stopped"]
    finally:
        failpoints.arm("")
    assert numbers(site) == [(1, "live"), (2, "building")]
    assert len(site.texts()) == 3
    site.restart()
    sync(site)
    assert numbers(site) == [(2, "live")]
    assert len(site.texts()) == 3


def test_a_rebuild_that_died_before_its_sources_were_marked_never_shows_an_empty_collection(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    other_embedder(site)

    def die(name: str) -> None:
        if name == "ledger.rebuild.before":
            raise KeyboardInterrupt

    failpoints.arm("", reached=die)
    try:
        with pytest.raises(KeyboardInterrupt):
            reindex(site, force=True)
    finally:
        failpoints.arm("")
    assert numbers(site) == [(1, "live"), (2, "building")]
    site.restart(clean=False)
    site.write("b.md", "Text of b.\n")
    sync(site)
    assert numbers(site) == [(2, "live")]
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}


def test_a_rebuild_given_up_by_restoring_the_settings_leaves_readers_as_they_were(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    other_embedder(site)
    failpoints.arm("", reached=lambda name: site.stop.set() if name == "ledger.rebuild.after" else None)
    try:
        reindex(site, force=True)
    finally:
        failpoints.arm("")
    site.restart()
    site.embedder.version -= 1
    site.renew_engines()
    site.write("b.md", "Text of b.\n")
    sync(site)
    assert numbers(site) == [(1, "live")]
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}


def stopped_at(site: Site, reached: str, run: Callable[[], dict[str, Any]]) -> None:
    failpoints.arm("", reached=lambda name: site.stop.set() if name == reached else None)
    try:
        assert run()["stopped"]
    finally:
        failpoints.arm("")
    site.restart()


def test_what_was_only_brought_into_a_rebuild_is_served_when_that_is_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    sync(site)
    other_embedder(site)
    stopped_at(site, "ledger.claim.after", lambda: reindex(site, force=True))
    site.write("0.md", "Another text.\n")
    monkeypatch.setattr(ingest, "GROUP_DOCUMENTS", 1)
    stopped_at(site, "ledger.serve.after", lambda: sync(site))
    assert numbers(site) == [(1, "live"), (2, "building")]
    assert site.states()["docs/0.md"] == "done"
    assert site.texts()["docs/0.md"] == "Text of number 0."
    site.embedder.version -= 1
    site.renew_engines()
    sync(site)
    assert numbers(site) == [(1, "live")]
    assert site.texts()["docs/0.md"] == "Another text."


def test_the_only_good_version_of_a_file_outlives_the_rebuild_that_it_was_brought_into(site: Site) -> None:
    site.write("a.md", "Text.\n")
    sync(site)
    other_embedder(site)
    shutil.rmtree(site.directory / "conversions")
    late = site.write("late.md", "Come while it was built.\n")

    def refuse(name: str) -> None:
        if name == "a.md":
            raise TransientError("not now")

    site.before_convert = refuse
    reindex(site, force=True)
    sync(site)
    assert numbers(site) == [(1, "live"), (2, "building")]
    assert site.states() == {"docs/a.md": "pending", "docs/late.md": "done"}
    late.write_bytes(b"")
    sync(site)
    site.embedder.version -= 1
    site.renew_engines()
    document = sync(site)
    assert [(one["path"], one["stale_served"]) for one in document["failed"]] == [("late.md", True)]
    assert numbers(site) == [(1, "live")]
    assert site.texts() == {"docs/a.md": "Text.", "docs/late.md": "Come while it was built."}


def broken(site: Site) -> None:
    """Two documents, of which one is served although its file fails now."""
    site.write("a.md", "Text.\n")
    path = site.write("b.md", "Text of b.\n")
    sync(site)
    path.write_bytes(b"")
    assert [one["stale_served"] for one in sync(site)["failed"]] == [True]


def test_a_rebuild_takes_along_what_is_served_of_a_file_that_fails_now(site: Site) -> None:
    broken(site)
    other_embedder(site)
    planned = reindex(site, dry_run=True)
    assert planned["left_behind"] == []
    assert {one["action"] for one in planned["documents"]} == {"reembed"}
    document = reindex(site, force=True)
    costs = {"convert": "converted", "embed": "embedded", "write": "points_written", "delete": "points_deleted"}
    assert {cost: planned["totals"][cost] for cost in costs} == {cost: document[name] for cost, name in costs.items()}
    assert planned["totals"]["embed"] == 2
    assert numbers(site) == [(2, "live")]
    assert site.texts() == {"docs/a.md": "Text.", "docs/b.md": "Text of b."}
    assert [(one["path"], one["stale_served"]) for one in document["failed"]] == [("b.md", True)]
    assert site.states() == {"docs/a.md": "done", "docs/b.md": "quarantined"}
    assert document["converted"] == 0
    site.write("b.md", "Mended.\n")
    sync(site)
    assert site.texts()["docs/b.md"] == "Mended."


def test_a_rebuild_takes_along_what_is_held(site: Site) -> None:
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n", root="docs")
    site.root("more")
    site.write("4.md", "Text of number 4.\n", root="more")
    sync(site)
    site.unroot("docs")
    sync(site)
    assert site.held() == 3
    other_embedder(site)
    reindex(site, force=True)
    assert numbers(site) == [(2, "live")]
    assert len(site.texts()) == 4
    assert site.held() == 3


def test_a_document_that_cannot_be_taken_along_is_named_beforehand(site: Site) -> None:
    broken(site)
    other_embedder(site)
    shutil.rmtree(site.directory / "conversions")
    planned = reindex(site, dry_run=True)
    assert planned["rebuild"] == ["documents"]
    assert planned["left_behind"] == [{"root": "docs", "path": "b.md"}]
    reindex(site, force=True)
    assert set(site.texts()) == {"docs/a.md"}


def two_roots(site: Site) -> None:
    site.root("more")
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n", root="docs")
        site.write(f"{number}.md", f"More of number {number}.\n", root="more")
    sync(site)


def unmount(site: Site, root: str = "docs") -> Path:
    """Leave an empty folder, as where nothing is mounted; where the content is now."""
    away = site.directory / f"{root}-away"
    (site.directory / root).rename(away)
    (site.directory / root).mkdir()
    return away


@pytest.mark.parametrize("rebuild", [True, False])
def test_a_reindex_while_a_root_is_not_mounted_loses_nothing_of_it(site: Site, rebuild: bool) -> None:
    two_roots(site)
    before = site.texts()
    away = unmount(site)
    if rebuild:
        other_embedder(site)
    else:
        site.chunker = ChunkOptions(max_size=40)
    document = reindex(site, force=rebuild)
    assert [one["root"] for one in document["vanished"]] == ["docs"]
    assert (document["deferred"], code_of(document)) == ([], ExitCode.AMISS)
    assert site.texts() == before
    assert site.root_state() == "vanished"
    site.write("stray.md", "Not of this root.\n", root="docs")
    sync(site)
    sync(site)
    assert before.items() <= site.texts().items()
    shutil.rmtree(site.directory / "docs")
    away.rename(site.directory / "docs")
    assert sync(site)["held"] == 0
    sync(site)
    assert site.texts() == before
    assert [state for _, state in numbers(site)] == ["live"]


def test_a_rebuild_keeps_a_root_that_is_on_its_way_to_another_collection(site: Site) -> None:
    site.settle_seconds = 2.0
    two_roots(site)
    site.root("more", collection="elsewhere")
    other_embedder(site)
    failpoints.arm("", reached=lambda name: site.stop.set() if name == "ledger.rebuild.after" else None)
    try:
        reindex(site, force=True)
    finally:
        failpoints.arm("")
    site.restart()
    for number in range(3):
        site.write(f"{number}.md", f"More of number {number}.\n", root="more")
    site.work()
    assert site.states()["more/1.md"] == "pending"
    assert (2, "live") in numbers(site)
    assert len(site.texts()) == 6
    sync(site)
    assert (len(site.texts()), len(site.texts("elsewhere"))) == (3, 3)


def test_a_mass_removal_while_a_collection_is_rebuilt_is_held_all_the_same(site: Site) -> None:
    site.settle_seconds = 2.0
    for number in range(70):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    sync(site)
    other_embedder(site)
    failpoints.arm("", reached=lambda name: site.stop.set() if name == "ledger.rebuild.after" else None)
    try:
        reindex(site, force=True)
    finally:
        failpoints.arm("")
    site.restart()
    for number in range(60):
        (site.directory / "docs" / f"{number}.md").unlink()
    document = sync(site)
    assert (document["held"], document["removed"]) == (60, 0)
    assert numbers(site) == [(2, "live")]
    assert len(site.texts()) == 70


def test_what_went_a_moment_ago_and_cannot_be_taken_along_puts_the_switch_off(site: Site) -> None:
    site.settle_seconds = 2.0
    two_roots(site)
    other_embedder(site)
    shutil.rmtree(site.directory / "conversions")
    failpoints.arm("", reached=lambda name: site.stop.set() if name == "ledger.rebuild.after" else None)
    try:
        reindex(site, force=True)
    finally:
        failpoints.arm("")
    site.restart()
    lost = site.directory / "docs" / "1.md"
    text = lost.read_text()
    lost.unlink()
    scan_roots(site.parts(), site.tally)
    site.work()
    assert numbers(site) == [(1, "live"), (2, "building")]
    site.rewrite(lost, text)
    sync(site)
    assert numbers(site) == [(2, "live")]
    assert len(site.texts()) == 6


def test_a_reindex_of_something_unknown_is_refused_with_what_is_known(site: Site) -> None:
    with pytest.raises(ConfigurationError, match="no collection is called 'nowhere'; known: documents"):
        reindex(site, collection=["nowhere"])
