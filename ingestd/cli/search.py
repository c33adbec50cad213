"""``ingestd search``: the nearest chunks to a query."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingestd.cli.arguments import Commands, add_command, add_json, positive
from ingestd.cli.invocation import Invocation, named_paths
from ingestd.cli.owning import searched
from ingestd.cli.report import Answer, Document, Line, Part
from ingestd.errors import ConfigurationError
from ingestd.model.source import printable

_EXCERPT_CHARS = 300


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "search",
        "find the chunks nearest to a query",
        "Answers with score, path, page and heading path. Works while the daemon runs.",
    )
    parser.add_argument("query", metavar="QUERY", help="words or a question")
    parser.add_argument("--limit", type=positive, default=10, metavar="N", help="most hits (default: %(default)s)")
    parser.add_argument("--root", metavar="NAME", help="only documents of this root")
    parser.add_argument("--path", metavar="PATH", help="only this document, or documents below this folder of a root")
    parser.add_argument("--tag", action="append", metavar="TAG", help="only documents with this tag; may be repeated")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Nearest chunks, from the daemon where one runs, else from the files."""
    given = invocation.arguments
    for text in (given.query, given.root or "", *(given.tag or ())):
        _check_text(text)
    for flag, value in (("--root", given.root), ("--path", given.path)):
        if value == "":
            raise ConfigurationError(f"{flag} is empty: leave it out to search everywhere")
    path = None if given.path is None else named_paths(invocation, [Path(given.path)])[0]
    arguments: dict[str, Any] = {
        "query": given.query,
        "limit": given.limit,
        "root": given.root,
        "path": path,
        "tags": given.tag or [],
    }
    return Answer(document=searched(invocation, arguments, timeout_seconds=30.0), report=report)


_SHOWN = 80
"""Most characters of a query that a message repeats."""


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"'{printable(text[:_SHOWN])}' is not UTF-8: search in UTF-8, which `locale` shows and LC_ALL=C.UTF-8 sets"
        ) from error


def report(document: Document) -> Iterator[Part]:
    """Hits, best first, from the contract's ``search`` document."""
    hits = document["hits"]
    if not hits:
        yield Line("nothing found: `ingestd status` shows what is indexed", "faint")
    for hit in hits:
        yield Line(f"{hit['score']:.3f}  {place(hit)}", "strong")
        if hit["heading_path"]:
            yield Line(f"       {heading_line(hit['heading_path'])}")
        yield from (Line(f"       {line}", "faint") for line in _excerpt(hit["body"]))


def place(hit: Mapping[str, Any]) -> str:
    """Root, path and pages of a hit or a chunk."""
    pages = page_range(hit["page_start"], hit["page_end"])
    return f"{hit['root']}: {hit['path']}" + (f", {pages}" if pages else "")


def page_range(first: int | None, last: int | None) -> str:
    """``page 3`` or ``pages 3-4``; empty where the format has no pages."""
    if first is None:
        return ""
    return f"page {first}" if last in {None, first} else f"pages {first}-{last}"


def heading_line(heading_path: list[str]) -> str:
    """Headings without their marks, outermost first."""
    return " > ".join(heading.lstrip("#").strip() for heading in heading_path)


def _excerpt(body: str) -> list[str]:
    return textwrap.wrap(textwrap.shorten(body, _EXCERPT_CHARS, placeholder=" …"), 90)
