"""Cells of an HTML table as rows of equal meaning: spans are filled with what they span."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_MAX_SPAN = 50
"""A cell that says it spans more is believed up to here: pages claim a billion."""


@dataclass(slots=True)
class Table:
    """A table while its cells arrive."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    headed: list[bool] = field(default_factory=list)
    """Whether each row is a header row."""
    in_head: bool = False
    _row: list[str] = field(default_factory=list)
    _heads: list[bool] = field(default_factory=list)
    _pending: dict[int, tuple[int, str]] = field(default_factory=dict)
    """By column: how many rows a cell above still spans from this one on, and its text."""
    _next_pending: dict[int, tuple[int, str]] = field(default_factory=dict)
    """The same for the row after this one."""

    def add_cell(self, text: str, attributes: Mapping[str, str], *, head: bool) -> None:
        """Add a cell at the next free column."""
        self._fill()
        wide, high = _span(attributes.get("colspan")), _span(attributes.get("rowspan"))
        for offset in range(wide):
            if high > 1:
                self._next_pending[len(self._row)] = (high - 1, text if offset == 0 else "")
            self._row.append(text if offset == 0 else "")
        self._heads.append(head)

    def end_row(self) -> None:
        """Close the row, when it has cells."""
        if not self._heads:
            return
        self._fill()
        self.rows.append(tuple(self._row))
        self.headed.append(self.in_head or all(self._heads))
        self._row, self._heads = [], []
        self._pending, self._next_pending = self._next_pending, {}

    @property
    def header_rows(self) -> int:
        """How many of the first rows are header rows; a table of header cells alone has none."""
        return next((index for index, head in enumerate(self.headed) if not head), 0)

    def _fill(self) -> None:
        """Repeat what cells above span into the columns that come next."""
        while (column := len(self._row)) in self._pending:
            left, text = self._pending.pop(column)
            if left > 1:
                self._next_pending[column] = (left - 1, text)
            self._row.append(text)


def _span(value: str | None) -> int:
    text = (value or "").strip()
    return min(max(int(text), 1), _MAX_SPAN) if text.isascii() and text.isdigit() and len(text) < 12 else 1
