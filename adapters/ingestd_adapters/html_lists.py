"""Items of nested HTML lists as one list of items with depths."""

from dataclasses import dataclass, field

from ingestd.convert.render import Item, Piece
from ingestd.model.document import BlockType

_MAX_START_DIGITS = 8


@dataclass(slots=True)
class _Level:
    ordered: bool
    number: int


@dataclass(slots=True)
class Lists:
    """The open lists, and the items that have arrived since the last block."""

    _levels: list[_Level] = field(default_factory=list["_Level"])
    _items: list[Item] = field(default_factory=list[Item])
    _begun: bool = False
    """The last item may still grow: a second paragraph of it is no new item."""

    @property
    def open(self) -> bool:
        """Whether text stands in a list."""
        return bool(self._levels)

    def begin(self, *, ordered: bool, start: str) -> None:
        """A list begins, inside the innermost open one; ``start`` is the number of its first item, if stated."""
        stated = start.isascii() and start.isdigit() and len(start) <= _MAX_START_DIGITS
        self._levels.append(_Level(ordered, int(start) if stated else 1))
        self._begun = False

    def begin_item(self) -> None:
        """An item begins."""
        self._begun = False

    def add(self, text: str, *, deeper: bool) -> None:
        """Text of the innermost list's current item; ``deeper`` for definitions, which stand below their terms."""
        if self._begun and self._items:
            last = self._items[-1]
            self._items[-1] = Item(text=f"{last.text}\n{text}", depth=last.depth, number=last.number)
            return
        level = self._levels[-1]
        depth = len(self._levels) - 1 + deeper
        self._items.append(Item(text=text, depth=depth, number=level.number if level.ordered else None))
        level.number += 1
        self._begun = True

    def end(self) -> bool:
        """The innermost list ends; true when it was the outermost."""
        if not self._levels:
            return False
        self._levels.pop()
        self._begun = False
        return not self._levels

    def take(self) -> Piece | None:
        """The items so far as a block, if there are any; a list that is still open goes on in the next block."""
        if not self._items:
            return None
        piece = Piece(type=BlockType.LIST, items=tuple(self._items))
        self._items.clear()
        self._begun = False
        return piece
