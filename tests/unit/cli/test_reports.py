"""Reports of the documents that the contract shows."""

from typing import Any

import pytest

from ingestd.cli import check, confirm, forget, init, reindex, retry, search, show, status, sync, verify
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.output import plain_lines
from ingestd.cli.report import Report

SYNC: dict[str, Any] = {
    "seen": 12, "added": 10, "changed": 1, "moved": 0, "removed": 0, "unchanged": 1, "ignored": 3, "held": 0,
    "stale_served": 0, "failed": [], "deferred": [], "converted": 10, "conversions_reused": 1, "chunks": 210,
    "embedded": 205, "vectors_reused": 5, "points_written": 205, "points_deleted": 0, "seconds": 12.3,
    "stage_seconds": {"scan": 0.1, "convert": 6.0, "chunk": 0.4, "embed": 5.0, "publish": 0.8},
}  # fmt: skip
FAILED = {"root": "docs", "path": "bad.pdf", "stage": "convert", "reason": "needs a password", "error": "PdfEncrypted"}
CHUNK = {
    "index": 0, "text": "# A\n\nx", "body": "x", "heading_path": ["# A", "## B"], "title": "A", "section": "B",
    "char_start": 0, "char_end": 5, "page_start": 3, "page_end": 4, "block_types": ["list", "paragraph"],
    "n_chars": 1, "n_tokens": 5,
}  # fmt: skip


def lines(report: Report, document: dict[str, Any]) -> list[str]:
    return list(plain_lines(report(document)))


def test_a_sync_says_what_it_did() -> None:
    assert lines(sync.report, SYNC) == [
        "12 files seen: 10 added, 1 changed, 1 unchanged, 3 ignored",
        (
            "10 converted (1 conversion reused), 210 chunks, 205 embedded (5 vectors reused), 205 points written, "
            "0 deleted"
        ),
        "12.3 s (scan 0.1, convert 6.0, chunk 0.4, embed 5.0, publish 0.8)",
    ]


def test_a_sync_names_what_failed_what_waits_and_what_is_held() -> None:
    deferred = [{"root": "docs", "path": "a\x1b.md", "reason": "store down", "retry_at": "2026-01-01T00:00:00Z"}]
    text = "\n".join(
        lines(sync.report, SYNC | {"failed": [FAILED], "deferred": deferred, "held": 2, "stale_served": 1})
    )
    assert "bad.pdf  convert  PdfEncrypted  needs a password" in text
    assert "a\\x1b.md  2026-01-01T00:00:00Z  store down" in text
    assert "2 removals held: `ingestd confirm --list`" in text
    assert "1 document served in the last good version" in text
    text = "\n".join(lines(sync.report, SYNC | {"paused": ["documents"], "stopped": True}))
    assert "documents waits for `ingestd reindex --force`" in text
    assert "run it again to go on" in text


def test_the_status_shows_roots_generations_and_quarantine() -> None:
    document = {
        "daemon": {"running": True, "pid": 7, "since": "2026-01-01T00:00:00Z"},
        "roots": [
            {
                "name": "docs", "path": "/srv/docs", "collection": "documents", "documents": 3, "chunks": 40,
                "pending": 1, "quarantined": 1, "last_scan": None, "state": "vanished", "held": 3,
                "reason": "the folder is empty", "notes": [{"path": "link", "reason": "it leaves the root"}],
                "ignored": {"hidden name": 4, "unsupported type": 2}, "forgotten": 1,
            }
        ],
        "queues": {"convert": 2, "embed": 0},
        "generations": [
            {"collection": "documents", "generation": 1, "state": "served", "recipe": "f" * 64, "points": 40}
        ],
        "quarantine": [FAILED | {"since": "2026-01-01T00:00:00Z", "attempts": 2}],
        "recipe": {},
    }  # fmt: skip
    text = lines(status.report, document)
    assert text[0] == "the daemon runs (process 7, since 2026-01-01T00:00:00Z)"
    assert text[2].split() == ["docs", "vanished", "3", "40", "1", "1", "documents", "-", "/srv/docs"]
    assert "queues: convert 2" in text
    assert text[-5:] == [
        "docs: vanished: the folder is empty",
        "docs: link is left out: it leaves the root",
        "docs: 2 files of a type that nothing reads: `ingestd show FILE` says why, `ingestd check` what is read",
        "docs: 1 document forgotten, until the file changes or is touched",
        "docs: 3 removals held: `ingestd confirm docs`",
    ]


def test_the_status_says_what_waits_for_a_reindex_and_what_is_served_in_an_older_version() -> None:
    waiting = {"collection": "documents", "generation": 1, "state": "needs-reindex", "recipe": "f", "points": 4,
               "reason": "run `ingestd reindex --force`"}  # fmt: skip
    failed = FAILED | {"since": "2026-01-01T00:00:00Z", "attempts": 2, "stale_served": True}
    document = {
        "daemon": {"running": False},
        "roots": [],
        "queues": {},
        "generations": [waiting],
        "quarantine": [failed],
    }
    text = lines(status.report, document)
    assert "documents: needs-reindex: run `ingestd reindex --force`" in text
    assert "1 document served in the last good version" in text


def test_the_status_names_the_command_that_works_on_the_state() -> None:
    daemon = {"running": False, "pid": None, "since": None, "working": {"pid": 7, "since": "2026-01-01T00:00:00Z"}}
    document = {"daemon": daemon, "roots": [], "queues": {}, "generations": [], "quarantine": []}
    assert "process 7 works on it since 2026-01-01T00:00:00Z" in lines(status.report, document)[0]
    daemon["working"] = {"pid": 7, "since": "2026-01-01T00:00:00Z", "command": "sync"}
    assert "process 7 does `ingestd sync` since 2026-01-01T00:00:00Z" in lines(status.report, document)[0]


def test_the_status_of_an_empty_state_says_how_to_begin() -> None:
    empty = {"daemon": {"running": False}, "roots": [], "queues": {}, "generations": [], "quarantine": []}
    assert lines(status.report, empty) == [
        "no daemon runs on this state",
        "no roots: add [[root]] to the configuration, or run `ingestd sync FOLDER`",
    ]


@pytest.mark.parametrize(
    ("pages", "expected"), [((3, 3), ", page 3"), ((3, 4), ", pages 3-4"), ((3, None), ", page 3"), ((None, None), "")]
)
def test_a_hit_has_its_score_path_page_and_headings(pages: tuple[int | None, int | None], expected: str) -> None:
    hit = {
        "score": 0.7123, "id": "…", "path": "a\n.pdf", "root": "docs", "title": "T", "heading_path": ["# A", "## B"],
        "page_start": pages[0], "page_end": pages[1], "chunk_index": 4, "doc_version": 2, "text": "…",
        "body": "one\ntwo " + "word " * 100,
    }  # fmt: skip
    text = lines(search.report, {"query": "q", "hits": [hit]})
    assert text[0] == f"0.712  docs: a\\n.pdf{expected}"
    assert text[1] == "       A > B"
    assert text[2].startswith("       one two word")
    assert text[-1].endswith(" …")
    assert len(text) < 8


def test_a_search_without_hits_says_where_to_look() -> None:
    assert lines(search.report, {"query": "q", "hits": []}) == ["nothing found: `ingestd status` shows what is indexed"]


def test_a_document_is_shown_with_its_chunks() -> None:
    document = {
        "root": "docs", "path": "a.pdf", "title": "A", "version": 2, "state": "served", "chunks": [CHUNK],
        "blocks": [
            {"type": "title", "level": 1, "page": 1, "char_start": 0, "char_end": 7, "text": "Pumps"},
            {"type": "paragraph", "level": None, "page": 1, "char_start": 9, "char_end": 11, "text": "a\nb"},
            {"type": "paragraph", "level": None, "page": 2, "char_start": 13, "char_end": 513, "text": "word " * 100},
        ],
    }  # fmt: skip
    text = lines(show.report, document)
    assert [line.split() for line in text[6:9]] == [
        ["type", "level", "page", "chars", "n_chars", "text"],
        ["title", "1", "1", "0-7", "7", "Pumps"],
        ["paragraph", "-", "1", "9-11", "2", "a", "b"],
    ]
    assert text[9].endswith("word word …")
    assert text[:5] == ["docs: a.pdf", "title: A", "version: 2", "state: served", "blocks: 2 paragraph, 1 title"]
    assert text[-1].split() == ["0", "0-5", "3-4", "1", "5", "list", "paragraph", "A", ">", "B"]


def test_pages_that_were_read_from_pictures_are_said() -> None:
    facts = {"ocr": "rapidocr", "pages_by_ocr": "2,3", "ocr_confidence": "0.981", "ocr_dropped_share": "0.020"}
    document = {"root": "docs", "path": "a.pdf", "state": "served", "blocks": [], "chunks": [], "provenance": facts}
    assert "pages by OCR: 2,3, by rapidocr with a mean confidence of 0.981, 2.0% dropped as unsure" in lines(
        show.report, document
    )


def test_verify_lists_each_kind_of_difference() -> None:
    same = {
        "ok": True, "documents": 12, "points": 210, "missing_points": [], "orphan_points": [], "stale_points": [],
        "unserved_sources": [], "ghost_documents": [], "repaired": 0,
    }  # fmt: skip
    assert lines(verify.report, same) == ["disk, ledger and store are one: 12 documents, 210 points"]
    text = lines(
        verify.report,
        same
        | {
            "ok": False,
            "missing_points": [{"id": "id-1", "root": "docs", "path": "b.md"}],
            "unserved_sources": [
                {"root": "docs", "path": "new.md"},
                {"root": "docs", "path": "\\xff.md", "path_b64": "/y5tZA==", "why": "pending"},
            ],
        },
    )
    assert text == [
        "disk, ledger and store differ: 12 documents, 210 points",
        "1 point that the ledger serves, and the store lacks",
        "id    root  path",
        "id-1  docs  b.md",
        "2 files on disk to be taken up: `ingestd sync` does it",
        "root  path     why",
        "docs  new.md   -",
        "docs  \\xff.md  pending",
    ]


def test_a_dry_run_counts_what_it_would_cost() -> None:
    plan = {
        "documents": [
            {"root": "docs", "path": "a.md", "action": "rechunk", "why": "chunker.max_size 240 -> 200"},
            {"root": "docs", "path": "b.md", "action": "none", "why": "unchanged"},
        ],
        "totals": {"convert": 0, "chunk": 1, "embed": 3, "write": 3, "delete": 2},
    }
    text = lines(reindex.report, plan)
    assert "b.md" not in "\n".join(text)
    assert text[-1] == (
        "1 document: 0 files to convert, 1 document to chunk, 3 texts to embed, 3 points to write, 2 points to delete"
    )
    assert "about 3 texts to embed" in lines(reindex.report, plan | {"estimated": True})[-1]


def test_a_dry_run_with_nothing_to_do_says_so() -> None:
    plan = {"documents": [], "totals": dict.fromkeys(("convert", "chunk", "embed", "write", "delete"), 0)}
    assert lines(reindex.report, plan) == ["every document is by the present recipe: nothing to do"]


def test_a_sync_names_the_roots_that_are_not_there() -> None:
    document = SYNC | {"vanished": [{"root": "docs", "reason": "/srv/docs: No such file or directory"}]}
    assert lines(sync.report, document)[-1] == "docs: vanished: /srv/docs: No such file or directory"
    assert sync.code_of(document | {"stopped": False, "paused": []}) is ExitCode.AMISS


@pytest.mark.parametrize(
    ("state", "way_out"), [("quarantined", "`ingestd retry PATH`"), ("forgotten", "`touch` is enough")]
)
def test_a_document_that_is_not_served_is_shown_with_the_way_back(state: str, way_out: str) -> None:
    document = {
        "root": "docs", "path": "a.pdf", "state": state, "reason": "needs a password", "blocks": [], "chunks": [],
    }  # fmt: skip
    text = lines(show.report, document)
    assert text[:4] == ["docs: a.pdf", f"state: {state}", "reason: needs a password", "blocks: none"]
    assert len(text) == 5
    assert way_out in text[4]


def test_a_reindex_reports_as_a_sync_does() -> None:
    text = lines(reindex.report, SYNC | {"mode": "rolling", "generation": 1, "previous_generation": 1})
    assert text[0] == "reindex, rolling"
    assert text[1].startswith("12 files seen")


def test_small_commands_name_what_they_did() -> None:
    source = {"root": "docs", "path": "a.md"}
    assert lines(retry.report, {"retried": [source]}) == ["docs: a.md: will be tried again"]
    assert "nothing was in quarantine" in lines(retry.report, {"retried": []})[0]
    assert lines(forget.report, {"forgotten": [source]}) == ["docs: a.md: forgotten until the file changes"]
    assert "no document is served" in lines(forget.report, {"forgotten": []})[0]
    missed = [{"path": "x.md", "reason": "no root knows it"}]
    assert lines(forget.report, {"forgotten": [], "unknown": missed}) == ["x.md: no root knows it"]
    assert lines(retry.report, {"retried": [source], "unknown": missed})[1] == "x.md: no root knows it"
    removal = {"root": "docs", "documents": 60, "reason": "mass deletion"}
    assert lines(confirm.report, {"held": [removal]})[2].split()[:2] == ["docs", "60"]
    assert lines(confirm.report, {"confirmed": [removal]})[0].startswith("confirmed: removed now where a daemon runs")
    assert lines(confirm.report, {"held": []}) == ["no removal is held"]
    many = {"root": "docs", "documents": 60, "reason": "mass-removal"}
    assert "gone in one scan" in lines(confirm.report, {"held": [many]})[2]
    assert "ingestd check" in lines(init.report, {"configuration": "c", "root": "r"})[1]


def test_a_check_puts_what_is_amiss_last() -> None:
    findings = [
        {"subject": "root docs", "ok": False, "message": "/srv cannot be read"},
        {"subject": "store edge", "ok": True, "message": "its engine is installed"},
    ]
    assert lines(check.report, {"ok": False, "findings": findings, "versions": {"ingestd": "0.1.0"}}) == [
        "ok     store edge: its engine is installed",
        "AMISS  root docs: /srv cannot be read",
        "versions: ingestd 0.1.0",
        "1 amiss",
    ]
