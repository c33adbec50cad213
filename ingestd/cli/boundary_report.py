"""Two ways to cut one file: a JSON document for programs, a diff for people."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingestd.cli.chunk_sides import SERVED, Sides
from ingestd.cli.excerpt import cells, edges, fitted, fitted_end
from ingestd.cli.file_cuts import Side
from ingestd.cli.report import Document, Line, Part, Tone, counted
from ingestd.cli.search import heading_line, page_range
from ingestd.model.identity import text_hash
from ingestd.model.paths import path_fields
from ingestd.model.source import printable

if TYPE_CHECKING:
    # Imports the chunkers, which other commands have no use for.
    from ingestd.chunk.boundaries import Comparison
    from ingestd.model.chunk import Chunk

_EDGE_CHARS = 40
"""Most characters of a chunk's first or last words."""
_PIPED_COLUMNS = 140
_LEAST_COLUMNS = 24
_SHOWN = 4
"""So many first and last chunks of one side of a change are shown to people, where it has two more than these."""
_SERVED_FIELDS = (("doc_version", "version"), ("fingerprint", "served_fingerprint"), ("recipe", "recipe"))


def comparison_document(sides: Sides) -> Document:
    """The document of ``--json``."""
    from ingestd.chunk.boundaries import compare

    found = compare(sides.before.chunks, sides.after.chunks, same_markdown=sides.same_markdown)
    path = path_fields(os.fsencode(sides.file))
    texts_before, texts_after = ({chunk.text for chunk in side.chunks} for side in (sides.before, sides.after))
    return {
        "file": path["path"],
        **{key: value for key, value in path.items() if key != "path"},
        "same": found.same,
        "from": _side(sides.before),
        "to": _side(sides.after),
        "same_markdown": sides.same_markdown,
        "totals": _totals(found, sides),
        "notes": list(sides.notes),
        "changes": [
            {
                "kept_before": change.kept_before,
                "from": [_chunk(chunk, "moved" if chunk.text in texts_after else "gone") for chunk in change.before],
                "to": [_chunk(chunk, "moved" if chunk.text in texts_before else "new") for chunk in change.after],
            }
            for change in found.changes
        ],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "version": side.version,
        "chunker": side.chunker,
        "chunker_version": side.chunker_version,
        "chunks": len(side.chunks),
        **({"follows": side.follows} if side.follows else {}),
        **({name: side.served.get(field) for name, field in _SERVED_FIELDS} if side.served else {}),
    }


def _totals(found: "Comparison", sides: Sides) -> dict[str, Any]:
    texts, tokens = found.texts_to_embed, found.tokens_to_embed
    if not sides.same_space:
        every = {chunk.text: chunk.n_tokens for chunk in sides.after.chunks}
        texts, tokens = len(every), sum(every.values())
    before, after, both = found.boundaries or (None, None, None)
    return {
        "kept": found.kept,
        "moved": found.moved,
        "new": found.new,
        "gone": found.gone,
        "texts_to_embed": texts,
        "tokens_to_embed": tokens,
        "boundaries": {"from": before, "to": after, "kept": both},
    }


def _chunk(chunk: "Chunk", state: str) -> dict[str, Any]:
    first, last = edges(chunk.body, _EDGE_CHARS)
    return {
        "state": state,
        "index": chunk.index,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "heading_path": list(chunk.heading_path),
        "block_types": list(chunk.block_types),
        "n_chars": chunk.n_chars,
        "n_tokens": chunk.n_tokens,
        "text_sha256": text_hash(chunk.text),
        "first": first,
        "last": last,
    }


def report(document: Document, columns: int | None) -> Iterator[Part]:
    """How much differs and what it costs, then every change in document order.

    Parameters
    ----------
    columns
        Of the terminal, to which the lines of chunks are fitted; ``None``: there is none.
    """
    yield Line(f"{document['file']}: {_named(document['from'])} -> {_named(document['to'])}", "strong")
    yield from (Line(note, "strong") for note in document["notes"])
    yield from _summary(document)
    changes = document["changes"]
    if not changes:
        return
    yield Line("- before, + after, ~ after with a text that was there before, = the same on both sides", "faint")
    rows = _Rows(changes, columns or _PIPED_COLUMNS)
    for change in changes:
        yield from _kept(change["kept_before"])
        yield from rows.lines(change["from"], "-")
        yield from rows.lines(change["to"], "+")
    yield from _kept(document["totals"]["kept"] - sum(change["kept_before"] for change in changes))


def _named(side: Mapping[str, Any]) -> str:
    chunker = f"{side['chunker']} {side['chunker_version']}"
    if side["version"] == SERVED:
        return f"served ({chunker}, version {side['doc_version']})"
    if "doc_version" in side:
        return f"{chunker} (as served, version {side['doc_version']})"
    return f"{chunker} (as {side['follows']})" if "follows" in side else chunker


def _summary(document: Document) -> Iterator[Line]:
    totals, before, after = document["totals"], document["from"]["chunks"], document["to"]["chunks"]
    if document["same"]:
        yield Line(f"{counted(after, 'chunk')}, the same on both sides", "good")
    else:
        parts = ", ".join(f"{totals[part]} {part}" for part in ("kept", "moved", "new", "gone"))
        yield Line(f"{counted(before, 'chunk')} -> {after}: {parts}")
        if document["same_markdown"]:
            places = totals["boundaries"]
            yield Line(
                f"boundaries: {places['kept']} of {places['from']} stay, {places['to'] - places['kept']} are new"
            )
    if totals["texts_to_embed"]:
        texts, tokens = counted(totals["texts_to_embed"], "text"), counted(totals["tokens_to_embed"], "token")
        yield Line(f"{texts} to be embedded anew ({tokens})", "strong")
    else:
        yield Line("nothing to be embedded anew", "good")


def _kept(count: int) -> Iterator[Line]:
    if count:
        yield Line(f"= {counted(count, 'chunk')}", "faint")


class _Rows:
    """A line for each chunk, its cells set under those of the others.

    Parameters
    ----------
    columns
        Most cells of a line, as far as places and numbers leave any.
    """

    def __init__(self, changes: Sequence[Mapping[str, Any]], columns: int) -> None:
        every = [_place(chunk) for change in changes for side in ("from", "to") for chunk in change[side]]
        self._widths = [max(len(place[column]) for place in every) for column in range(len(_PLACE))]
        taken = 1 + sum(len(_GAP) + width for width in self._widths if width) + len(_GAP)
        self._room = max(_LEAST_COLUMNS, columns - taken)

    def lines(self, chunks: Sequence[Mapping[str, Any]], side: str) -> Iterator[Line]:
        """The chunks of one side of a change; of many only the first and the last."""
        few = len(chunks) <= 2 * _SHOWN + 1
        yield from (self._line(chunk, side) for chunk in (chunks if few else chunks[:_SHOWN]))
        if not few:
            yield Line(f"{side}{_GAP}… {counted(len(chunks) - 2 * _SHOWN, 'chunk')} more, all in --json", "faint")
            yield from (self._line(chunk, side) for chunk in chunks[-_SHOWN:])

    def _line(self, chunk: Mapping[str, Any], side: str) -> Line:
        sign = "~" if side == "+" and chunk["state"] == "moved" else side
        place = zip(_place(chunk), self._widths, strict=True)
        columns = [sign, *(text.rjust(width) for text, width in place if width)]
        heading = fitted_end(printable(heading_line(chunk["heading_path"])), self._room // 3)
        lead = f"{heading}: " if heading else ""
        words = fitted(printable(chunk["first"]), printable(chunk["last"]), self._room - cells(lead))
        return Line(_GAP.join([*columns, lead + words]), _TONES[chunk["state"]])


_GAP = "  "
_PLACE = ("index", "characters", "pages")
_TONES: Mapping[str, Tone] = {"gone": "bad", "new": "good", "moved": "plain"}


def _place(chunk: Mapping[str, Any]) -> tuple[str, str, str]:
    pages = page_range(chunk["page_start"], chunk["page_end"])
    return str(chunk["index"]), f"{chunk['char_start']}-{chunk['char_end']}", pages
