"""Tags and text of a page of HTML, in one pass whose cost grows with the page alone.

The parser of the standard library takes minutes for a few kilobytes of unclosed tags on releases before mid-2025.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

_TAG = re.compile(r"<(/?+)([A-Za-z][^\s/>]*+)")
_ATTRIBUTE = re.compile(r"[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]*+)))?+", re.DOTALL)
_TAG_END = re.compile(r"[\s/=]*+>")
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
"""Elements whose content holds no tags."""
_MAX_ATTRIBUTES = 64
"""Attributes beyond these are skipped, not kept."""


@dataclass(frozen=True, slots=True)
class Start:
    """A start tag."""

    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class End:
    """An end tag."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """Text with its character references resolved."""

    text: str


Token = Start | End | Text


def tokens(page: str) -> Iterator[Token]:
    """Tokens of the page in order; comments, declarations and processing instructions are skipped.

    A ``<`` that begins no tag is text, and so is a tag that is never closed.
    """
    at = 0
    while at < len(page):
        opened = page.find("<", at)
        if opened != at:
            until = opened if opened >= 0 else len(page)
            yield Text(unescape(page[at:until]))
            at = until
            continue
        token, at = _markup(page, at)
        if token is not None:
            yield token
        if isinstance(token, Start) and token.name in _RAW:
            closing = _RAW[token.name].search(page, at)
            until = closing.start() if closing else len(page)
            yield Text(unescape(page[at:until]))
            at = until


def _markup(page: str, at: int) -> tuple[Token | None, int]:
    """The token that begins with this ``<``, and the position after it."""
    if found := _TAG.match(page, at):
        attributes, after = _attributes(page, found.end())
        if after < 0:
            return Text(unescape(page[at:])), len(page)
        name = found[2].lower()
        return (End(name) if found[1] else Start(name, attributes)), after
    if page.startswith("<!--", at):
        closed = page.find("-->", at + 2)
        return None, closed + 3 if closed >= 0 else len(page)
    if page[at + 1 : at + 2] in ("!", "?", "/"):
        closed = page.find(">", at)
        return None, closed + 1 if closed >= 0 else len(page)
    return Text("<"), at + 1


def _attributes(page: str, at: int) -> tuple[dict[str, str], int]:
    """Attributes from here on, and the position after the tag; -1 when it never ends."""
    attributes: dict[str, str] = {}
    while not (end := _TAG_END.match(page, at)):
        found = _ATTRIBUTE.match(page, at)
        if not found:
            if at >= len(page):
                return attributes, -1
            at += 1
            continue
        if len(attributes) < _MAX_ATTRIBUTES:
            value = next((each for each in found.groups()[1:] if each is not None), "")
            attributes.setdefault(found[1].lower(), unescape(value))
        at = found.end()
    return attributes, end.end()
