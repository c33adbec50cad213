"""``ingestd show``: one document and its chunks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.excerpt import edges
from ingestd.cli.invocation import Invocation, named_paths
from ingestd.cli.owning import acted
from ingestd.cli.report import Answer, Document, Line, Part, Table
from ingestd.cli.search import heading_line

_FACTS = (
    "title",
    "version",
    "state",
    "stage",
    "error",
    "reason",
    "mime",
    "fingerprint",
    "converter",
    "chunker",
    "embedder",
    "ingested_at",
)
_FIRST_CHARS = 40


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "show",
        "show one document: version, blocks, chunks, pages and sizes",
        "Boundaries are half-open, in characters of the document's Markdown; pages are 1-based.",
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="file below a root, or its path relative to the root")
    parser.add_argument("--root", metavar="NAME", help="the root, where a relative path exists in several")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """One document, as it is served."""
    (path,) = named_paths(invocation, [invocation.arguments.path])
    document = acted(invocation, "show", {"path": path, "root": invocation.arguments.root})
    return Answer(document=document, report=report)


def report(document: Document) -> Iterator[Part]:
    """The document, its blocks by type and one by one, then a row for each chunk."""
    yield Line(f"{document['root']}: {document['path']}", "strong")
    for fact in _FACTS:
        if document.get(fact) is not None:
            yield Line(f"{fact.replace('_', ' ')}: {document[fact]}")
    provenance = document.get("provenance", {})
    if by_ocr := provenance.get("pages_by_ocr"):
        yield Line(f"pages by OCR: {by_ocr}, by {_ocr(provenance)}")
    blocks: dict[str, int] = {}
    for block in document["blocks"]:
        blocks[block["type"]] = blocks.get(block["type"], 0) + 1
    yield Line("blocks: " + (", ".join(f"{count} {kind}" for kind, count in sorted(blocks.items())) or "none"))
    if document["blocks"]:
        yield _blocks(document["blocks"])
    if document["chunks"]:
        yield _chunks(document["chunks"])
    if document["state"] == "forgotten":
        yield Line("it comes back when its file changes; `touch` is enough", "faint")
    if document["state"] == "quarantined":
        yield Line("it is tried again when the file or the recipe changes, or after `ingestd retry PATH`", "faint")


def _ocr(provenance: dict[str, str]) -> str:
    """Engine, confidence and what was dropped for want of it."""
    dropped = float(provenance["ocr_dropped_share"])
    said = f"{provenance['ocr']} with a mean confidence of {provenance['ocr_confidence']}"
    return f"{said}, {dropped:.1%} dropped as unsure" if dropped else said


def _blocks(blocks: list[dict[str, Any]]) -> Table:
    return Table(
        title="blocks",
        columns=("type", "level", "page", "chars", "n_chars", "text"),
        rows=tuple(
            (
                block["type"],
                block.get("level"),
                block.get("page"),
                f"{block['char_start']}-{block['char_end']}",
                block["char_end"] - block["char_start"],
                _first_words(block["text"]),
            )
            for block in blocks
        ),
        spare=("chars",),
    )


def _first_words(text: str) -> str:
    first, last = edges(text, _FIRST_CHARS)
    return f"{first} …" if last else first


def _chunks(chunks: list[dict[str, Any]]) -> Table:
    return Table(
        title="chunks",
        columns=("index", "chars", "pages", "n_chars", "n_tokens", "block types", "heading path"),
        rows=tuple(
            (
                chunk["index"],
                f"{chunk['char_start']}-{chunk['char_end']}",
                _pages(chunk["page_start"], chunk["page_end"]),
                chunk["n_chars"],
                chunk["n_tokens"],
                " ".join(chunk["block_types"]),
                heading_line(chunk["heading_path"]),
            )
            for chunk in chunks
        ),
        spare=("n_chars", "block types"),
    )


def _pages(first: int | None, last: int | None) -> str | None:
    if first is None:
        return None
    return str(first) if last in {None, first} else f"{first}-{last}"
