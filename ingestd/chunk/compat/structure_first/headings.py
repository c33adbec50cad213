"""Headings in force before each chunk."""

import re
from collections.abc import Iterable
from dataclasses import replace

from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.constants import HEADING_PATH_SEPARATOR, MAX_HEADING_LEVELS
from ingestd.chunk.tracing import Span, span

_HEADING = re.compile(r"(#{1,6})(?=\s|\Z)[^\r\n]*")
"""Once it is known to begin a line; a literal first character makes the search fast."""


def heading_paths(chunks: list[Chunk]) -> list[tuple[str, ...]]:
    """For each chunk the headings in force before it, outermost first.

    A chunk that begins with a heading has the path before that heading, as in the seed: often the previous section's.
    Lines that begin with ``#`` are headings even in code.
    """
    with span("fancychunk.heading_paths") as current:
        paths = list(_paths(chunk.text for chunk in chunks))
        _describe(current, paths)
    return paths


def render_heading_path(path: tuple[str, ...]) -> str:
    """A line for each heading, or nothing."""
    return HEADING_PATH_SEPARATOR.join(path) + "\n" if path else ""


def enrich_with_headings(chunks: list[Chunk]) -> list[Chunk]:
    """Put before each text the headings in force; nothing else of the chunk changes."""
    with span("fancychunk.enrich_with_headings") as current:
        if all(chunk.heading_path is not None for chunk in chunks):
            paths = [chunk.heading_path or () for chunk in chunks]
        else:
            paths = heading_paths(chunks)
        _describe(current, paths)
        return [
            replace(chunk, text=render_heading_path(path) + chunk.text) if path else chunk
            for chunk, path in zip(chunks, paths, strict=True)
        ]


def with_heading_paths(chunks: list[Chunk]) -> list[Chunk]:
    """The same chunks, knowing their paths among these."""
    return [replace(chunk, heading_path=path) for chunk, path in zip(chunks, heading_paths(chunks), strict=True)]


def _describe(current: Span, paths: list[tuple[str, ...]]) -> None:
    current.set_attribute("fancychunk.chunks.count", len(paths))
    current.set_attribute("fancychunk.paths.non_empty", sum(map(bool, paths)))


def _paths(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    slots = [""] * MAX_HEADING_LEVELS
    for text in texts:
        yield tuple(filter(None, slots))
        if "#" not in text:
            continue
        for match in _HEADING.finditer(text):
            if match.start() and text[match.start() - 1] not in "\r\n":
                continue
            level = len(match[1])
            slots[level - 1] = match[0].rstrip()
            slots[level:] = [""] * (MAX_HEADING_LEVELS - level)
