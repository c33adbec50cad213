"""One chunk after the other, each grown from units of text until it is full."""

from dataclasses import dataclass

from ingestd.chunk.compat.grain_growth.blocks import Read
from ingestd.chunk.compat.grain_growth.formulas import BETWEEN
from ingestd.chunk.compat.grain_growth.prose import ends_in_stop

_BETWEEN_ITEMS = "\n"
_REPEATED_CHARS = 50_000_000
_REPEATED_TIMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Grain:
    """A chunk, with where it comes from."""

    title: str
    section: str | None
    body: str
    types: tuple[str, ...]
    """Of its blocks, sorted; each once."""
    page_start: int | None
    page_end: int | None
    """From 0; None where no block has a page."""
    blocks: tuple[int, int]
    """Half-open range of positions in the input; titles and skipped blocks may lie within."""
    repeated: int
    """Characters at the body's start that an earlier chunk holds: the last sentence, or the caption, said again."""

    @property
    def heading(self) -> str:
        """What stands above the body in the text that is embedded."""
        return (
            f"{self.title} \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} {self.section}"
            if self.section
            else self.title
        )


class Growth:
    """The chunk in progress, with the chunks before it.

    Parameters
    ----------
    title
        Of the document.
    target, most
        Characters at which a chunk is full, and those that it may have to end with a stop.
    chars
        Of the whole input: bounds how much may be repeated.
    """

    def __init__(self, title: str, *, target: float, most: float, chars: int) -> None:
        self.grains: list[Grain] = []
        self.section: str | None = ""
        self._title = title
        self._target = target
        self._most = most
        self._repeated_most = max(_REPEATED_CHARS, _REPEATED_TIMES * chars)
        self._repeated_total = 0
        self._pieces: list[str] = []
        self._types: list[str] = []
        self._members: list[Read] = []
        self._length = 0
        self._repeated = 0
        self._last = ""

    def add(
        self, text: str, types: tuple[str, ...], members: tuple[Read, ...], *, is_whole: bool = False, repeated: int = 0
    ) -> None:
        """Take a unit into the chunk in progress, or into a new one when that is full.

        Parameters
        ----------
        is_whole
            The chunk may grow to the most that it may have for the unit's sake.
        repeated
            Characters at the unit's start that the unit before it ends with.
        """
        length = len(text)
        if self._pieces:
            between = _BETWEEN_ITEMS if types[-1] == self._types[-1] == "list" else BETWEEN
            grown = self._length + len(between) + length
            if grown <= self._target or (grown <= self._most and (is_whole or not ends_in_stop(self._last))):
                self._pieces.append(between)
                length += len(between)
            else:
                self.flush()
        if not self._pieces:
            self._repeated = repeated
        self._pieces.append(text)
        self._types += types
        self._members += members
        self._length += length
        if text and not text.isspace():
            self._last = text

    def flush(self) -> None:
        """End the chunk in progress."""
        if not self._pieces:
            return
        self.emit("".join(self._pieces), self._types, self._members, repeated=self._repeated)
        self._pieces = []
        self._types = []
        self._members = []
        self._length = 0
        self._last = ""

    def emit(
        self,
        body: str,
        types: list[str] | tuple[str, ...],
        members: list[Read] | tuple[Read, ...],
        *,
        repeated: int = 0,
    ) -> None:
        """Make a chunk.

        Raises
        ------
        ValueError
            Headings and captions are repeated so often that the chunks are many times as large as the document.
        """
        self._repeated_total += len(self._title) + len(self.section or "") + repeated
        if self._repeated_total > self._repeated_most:
            raise ValueError(
                f"max_chars: the title, section headings and captions repeated in the chunks come to more than "
                f"{self._repeated_most} characters at block {members[0].at}; give a larger max_chars, or shorten them"
            )
        first, last = _page_range(members)
        self.grains.append(
            Grain(
                title=self._title,
                section=self.section,
                body=body,
                types=tuple(sorted(set(types))),
                page_start=first,
                page_end=last,
                blocks=(members[0].at, members[-1].at + 1),
                repeated=repeated,
            )
        )


def _page_range(members: list[Read] | tuple[Read, ...]) -> tuple[int | None, int | None]:
    pages = [one.page for one in members]
    first = pages[0]
    if pages.count(first) == len(pages):
        return first, first
    known = [page for page in pages if page is not None]
    try:
        return min(known, default=None), max(known, default=None)
    except TypeError as error:
        kinds = ", ".join(sorted({type(page).__name__ for page in pages}))
        raise ValueError(f"block {members[0].at}: pages of types {kinds} cannot be ordered; give integers") from error
