"""Text of what stands inside Markdown without being it: tags, quote marks, images."""

import re
from html import unescape

from ingestd.model.document import BlockType

_IMAGE = re.compile(r"!\[([^\]\[]*+)\](?:\([^()\n]*+\)|\[[^\]\[]*+\])")
_LINKED_IMAGE = re.compile(r"\[ *+(" + _IMAGE.pattern + r") *+\](?:\([^()\n]*+\)|\[[^\]\[]*+\])")
_QUOTE_MARK = re.compile(r" {0,3}+> ?+")
_TAG = re.compile(r"<[^<>]*+>")
_ALT = re.compile(r"\balt *+= *+(?:\"([^\"<>]*+)\"|'([^'<>]*+)')", re.IGNORECASE)
_SILENT_TAG = re.compile(r"<(?:script|style)(?=[\s>])", re.IGNORECASE)


def html_text(source: str) -> tuple[BlockType, str]:
    """What a block of HTML is, and its text without tags; furniture when nothing of it is read."""
    bare = source.lstrip()
    text = "" if _SILENT_TAG.match(bare) else unescape(_TAG.sub("", _without_comments(source))).strip()
    if text:
        return (BlockType.CODE if bare[:4].lower() == "<pre" else BlockType.PARAGRAPH), text
    alternative = " ".join(filter(None, (found[1] or found[2] for found in _ALT.finditer(source))))
    if alternative and not bare.startswith("<!"):
        return BlockType.PICTURE, alternative
    return BlockType.FURNITURE, ""


def _without_comments(source: str) -> str:
    """HTML without its comments; one that never ends takes the rest."""
    kept: list[str] = []
    at = 0
    while (opened := source.find("<!--", at)) >= 0:
        kept.append(source[at:opened])
        closed = source.find("-->", opened + 4)
        at = closed + 3 if closed >= 0 else len(source)
    return "".join(kept) + source[at:]


def unquoted(line: str) -> str:
    """The line without its quote marks, however many."""
    at = 0
    while found := _QUOTE_MARK.match(line, at):
        at = found.end()
    return line[at:]


def images_alone(text: str) -> str | None:
    """Alternative texts of a paragraph that is nothing but images, or ``None``."""
    alternatives: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in " \n":
            at += 1
            continue
        if found := _IMAGE.match(text, at):
            alternatives.append(found[1].strip())
        elif found := _LINKED_IMAGE.match(text, at):
            alternatives.append(found[2].strip())
        else:
            return None
        at = found.end()
    return " ".join(filter(None, alternatives))
