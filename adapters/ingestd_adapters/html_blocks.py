"""Blocks of a page of HTML, with an explicit stack that never grows past a bound."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ingestd.convert.render import Piece, one_line
from ingestd.model.document import BlockType
from ingestd_adapters.html_elements import BLOCKS, CLOSED_BY, HEADINGS, SILENT, VOID
from ingestd_adapters.html_lists import Lists
from ingestd_adapters.html_page import Page
from ingestd_adapters.html_tables import Table
from ingestd_adapters.html_tokens import End, Start, Text, Token

_MAX_DEPTH = 512
"""Elements nested deeper are read as if they stood here, as browsers do."""
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]?([\w.+#-]{1,40})")
_SPACE = re.compile(r"\s+")


def page_of(tokens: Iterable[Token]) -> Page:
    """Blocks, title and metadata of a page; script, style and navigation are left out."""
    builder = _Builder()
    for token in tokens:
        match token:
            case Text():
                builder.text(token.text)
            case Start():
                builder.start(token)
            case End():
                builder.end(token.name)
    builder.finish()
    return builder.page


class _Builder:
    """The open elements, and the block that is being filled."""

    def __init__(self) -> None:
        self.page = Page()
        self._stack: list[str] = []
        self._open: Counter[str] = Counter()
        self._inline: list[str] = []
        self._pictures: list[str] = []
        self._list = Lists()
        self._tables: list[Table] = []
        self._cell: Mapping[str, str] = {}
        self._language: str | None = None
        self._silent = 0

    def text(self, text: str) -> None:
        """Text inside the innermost open element."""
        if self._open["title"] and not self._open["body"] and not self._open["svg"]:
            self.page.title = self.page.title or one_line(text)
        elif not self._silent and not self._open["head"]:
            self._inline.append(text if self._open["pre"] else _SPACE.sub(" ", text))

    def start(self, tag: Start) -> None:
        """A start tag."""
        name = tag.name
        if name in BLOCKS:
            self._imply_ends(name)
        if name in VOID:
            self._void(name, tag.attributes)
            return
        if name in SILENT or "hidden" in tag.attributes or tag.attributes.get("role") == "navigation":
            name = f"!{name}"
            self._silent += 1
        elif not self._silent:
            self._begin(name, tag.attributes)
        self._push(name)

    def end(self, name: str) -> None:
        """An end tag; one that closes nothing is ignored."""
        if self._open[f"!{name}"]:
            self._pop_to(f"!{name}")
        elif self._open[name]:
            self._pop_to(name)
        elif name == "p":
            self._flush()

    def finish(self) -> None:
        """The end of the page."""
        while self._stack:
            self._pop()
        self._flush()
        self._flush_list()

    def _push(self, name: str) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            self._pop()
        self._stack.append(name)
        self._open[name] += 1

    def _pop(self) -> None:
        name = self._stack.pop()
        self._open[name] -= 1
        if name[0] == "!":
            self._silent -= 1
        elif not self._silent:
            self._finish(name)

    def _pop_to(self, name: str) -> None:
        while self._stack[-1] != name:
            self._pop()
        self._pop()

    def _imply_ends(self, name: str) -> None:
        """End the elements whose end tags were left out before this start tag."""
        if self._open["head"] and name not in ("head", "html"):
            self._pop_to("head")
        if self._open["p"] and self._stack[-1] == "p":
            self._pop()
        closed, bounds = CLOSED_BY.get(name, (frozenset[str](), frozenset[str]()))
        if not closed:
            return
        depth = len(self._stack)
        keep = depth
        while depth and self._stack[depth - 1] not in bounds:
            depth -= 1
            if self._stack[depth] in closed:
                keep = depth
        while len(self._stack) > keep:
            self._pop()

    def _void(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "meta":
            self.page.add_meta(attributes)
        elif self._silent:
            return
        elif name == "br":
            self._inline.append("\n")
        elif name == "hr":
            self._flush()
        elif name == "img" and attributes.get("width") not in ("0", "1"):
            alternative = one_line(attributes.get("alt", ""))
            if alternative and self._tables:
                self._inline.append(alternative)
            elif alternative:
                self._pictures.append(alternative)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Prepare for what an element holds."""
        if name == "html" and attributes.get("lang"):
            self.page.meta.setdefault("language", attributes["lang"][:35])
        if name in ("pre", "code") and (found := _LANGUAGE.search(attributes.get("class", ""))):
            self._language = found[1]
        if name not in BLOCKS:
            return
        self._begin_block(name, attributes)
        if name in ("ul", "ol", "dl"):
            self._list.begin(ordered=name == "ol", start=attributes.get("start", ""))
        elif name in ("li", "dt", "dd"):
            self._list.begin_item()
        elif name == "table":
            self._begin_table()
        elif name == "thead" and self._tables:
            self._tables[-1].in_head = True

    def _begin_block(self, name: str, attributes: Mapping[str, str]) -> None:
        """End the text before a block; inside a table cell it is only parted from what follows."""
        if name in ("td", "th"):
            self._cell = attributes
        elif not self._tables:
            self._flush()
        elif name in ("p", "div", "li", "dt", "dd"):
            self._inline.append(" ")

    def _begin_table(self) -> None:
        """A table inside a cell is read as text of that cell."""
        if not self._tables:
            self._flush_list()
        self._tables.append(Table())

    def _finish(self, name: str) -> None:
        """Make a block of what an element held, when it ends one."""
        if name in ("td", "th") and len(self._tables) == 1:
            self._tables[-1].add_cell(one_line("".join(self._inline)), self._cell, head=name == "th")
            self._inline.clear()
        elif name == "tr" and len(self._tables) == 1:
            self._tables[-1].end_row()
        elif name in ("thead", "table", "caption") and self._tables:
            self._finish_table(name)
        elif self._tables:
            if name in BLOCKS:
                self._inline.append(" ")
        elif name in BLOCKS:
            self._flush(name)
            if name in ("ul", "ol", "dl") and self._list.end():
                self._flush_list()

    def _finish_table(self, name: str) -> None:
        table = self._tables[-1]
        if name == "thead":
            table.in_head = False
            return
        if name == "caption" and len(self._tables) == 1:
            caption = one_line("".join(self._inline))
            self._inline.clear()
            self._add(Piece(type=BlockType.CAPTION, text=caption))
            return
        if name != "table":
            return
        self._tables.pop()
        if self._tables:
            return
        table.end_row()
        if max((len(row) for row in table.rows), default=0) > 1:
            self._add(Piece(type=BlockType.TABLE, rows=tuple(table.rows), header_rows=table.header_rows))
        else:
            # One column is a frame for layout, no table.
            for row in table.rows:
                self._add(Piece(type=BlockType.PARAGRAPH, text=row[0]))
        self._flush()

    def _flush(self, name: str = "") -> None:
        """Make a block of the text so far; ``name`` is the element that ends here."""
        text = "".join(self._inline)
        self._inline.clear()
        pictures, self._pictures = self._pictures, []
        if text.strip():
            self._block(text, name)
        for alternative in pictures:
            self._add(Piece(type=BlockType.PICTURE, text=alternative))

    def _block(self, text: str, name: str) -> None:
        if name == "pre" or self._open["pre"]:
            language, self._language = self._language, None
            self._add(Piece(type=BlockType.CODE, text=text, language=language))
            return
        self._language = None
        if name in HEADINGS:
            self._add(Piece(type=BlockType.SECTION, text=text, level=HEADINGS[name]))
        elif name == "figcaption":
            self._add(Piece(type=BlockType.CAPTION, text=text))
        elif self._list.open:
            self._list.add(text, deeper=name == "dd" or self._open["dd"] > 0)
        else:
            self._add(Piece(type=BlockType.PARAGRAPH, text=text))

    def _flush_list(self) -> None:
        if (piece := self._list.take()) is not None:
            self.page.pieces.append(piece)

    def _add(self, piece: Piece) -> None:
        self._flush_list()
        self.page.pieces.append(piece)
