"""One chunk after the other, each grown from units of text until it is full."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ingestd.chunk.compat.grain_growth.formulas import BETWEEN
from ingestd.chunk.compat.grain_growth.prose import ends_in_stop
from ingestd.chunk.compat.grain_growth.reading import Sources

_BETWEEN_ITEMS = "\n"
_GAP, _ITEM_GAP = len(BETWEEN), len(_BETWEEN_ITEMS)
_AT_ONCE = 256
"""Units whose lengths are added up together: memory stays flat."""
_REPEATED_CHARS = 50_000_000
_REPEATED_TIMES = 20


class Grain(NamedTuple):
    """A chunk, with where it comes from."""

    title: str
    section: str | None
    heading: str
    """What stands above the body in the text that is embedded: the title, then the section."""
    body: str
    types: str
    """Of its blocks, sorted; each once, commas between them."""
    page_start: int | None
    page_end: int | None
    """From 0; None where no block has a page."""
    start: int
    stop: int
    """Half-open range of positions in the input; titles and skipped blocks may lie within."""
    repeated: int
    """Characters at the body's start that an earlier chunk holds: the last sentence, or the caption, said again."""


class Growth:
    """The chunk in progress, with the chunks before it.

    Parameters
    ----------
    take
        Gets each chunk as soon as it is complete. Kept ones would cost the garbage collector a tenth of the time.
    title
        Of the document.
    target, most
        Characters at which a chunk is full, and those that it may have to end with a stop.
    chars
        Of the whole input: bounds how much may be repeated.
    """

    def __init__(self, take: Callable[[Grain], None], title: str, *, target: float, most: float, chars: int) -> None:
        self._hand_over = take
        self._title = title
        self._section: str | None = ""
        self._heading = str(title)
        self._target = target
        self._most = most
        self._repeated_most = max(_REPEATED_CHARS, _REPEATED_TIMES * chars)
        self._repeated_total = 0
        self._paragraphs: list[str] = []
        """Of the body."""
        self._items: list[str] = []
        """Of the list that it ends with."""
        self._length = 0
        self._last = ""
        """The last unit that is not blank."""
        self._repeated = 0
        self._kinds: set[str] = set()
        self._pages: list[int | None] = []
        self._start = self._stop = 0

    def begin_section(self, section: str | None) -> None:
        """End the chunk in progress; the next ones stand below the heading."""
        self.flush()
        self._section = section
        mark = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
        self._heading = f"{self._title} {mark} {section}" if section else str(self._title)

    def add(self, text: str, sources: Sources, *, is_whole: bool = False, repeated: int = 0) -> None:
        """Take a unit into the chunk in progress, or into a new one when that is full.

        Parameters
        ----------
        is_whole
            The chunk may grow to the most that it may have for the unit's sake.
        repeated
            Characters at the unit's start that the unit before it ends with.
        """
        kinds, pages, places = sources
        length = len(text)
        if self._pages:
            between = _ITEM_GAP if self._items and kinds[-1] == "list" else _GAP
            grown = self._length + between + length
            if grown <= self._target or (grown <= self._most and (is_whole or not ends_in_stop(self._last))):
                length = grown
            else:
                self.flush()
        if not self._pages:
            self._start = places[0]
            self._repeated = repeated
        self._take((text,), kinds[-1])
        self._length = length
        self._stop = places[-1] + 1
        self._kinds.update(kinds)
        self._pages += pages

    def add_run(self, texts: Sequence[str], kind: str, pages: Sequence[int | None], places: Sequence[int]) -> None:
        """Take units of one kind one after the other: the same as `add` for each, with its page and its place."""
        for start in range(0, len(texts), _AT_ONCE):
            batch = slice(start, start + _AT_ONCE)
            self._add_batch(texts[batch], kind, pages[batch], places[batch])

    def flush(self) -> None:
        """End the chunk in progress."""
        if not self._pages:
            return
        if self._items:
            self._close_items()
        body = BETWEEN.join(self._paragraphs)
        self._make(body, self._kinds, self._pages, (self._start, self._stop), self._repeated)
        self._paragraphs = []
        self._length = 0
        self._last = ""
        self._kinds.clear()
        self._pages = []

    def emit(self, body: str, sources: Sources, *, repeated: int = 0) -> None:
        """Make a chunk of its own.

        Raises
        ------
        ValueError
            As `flush`: headings and captions are repeated so often that the chunks are many times as large as the
            document.
        """
        kinds, pages, places = sources
        self._make(body, set(kinds), pages, (places[0], places[-1] + 1), repeated)

    def _add_batch(self, texts: Sequence[str], kind: str, pages: Sequence[int | None], places: Sequence[int]) -> None:
        self.add(texts[0], ((kind,), pages[:1], places[:1]))
        between = _ITEM_GAP if kind == "list" else _GAP
        ends = list(accumulate(map(between.__add__, map(len, texts))))
        done = 1
        while done < len(texts):
            before = ends[done - 1]
            stop = bisect_right(ends, before + self._target - self._length, done)
            if stop == done:
                stop = done + 1
                if self._length + ends[done] - before > self._most or ends_in_stop(self._last):
                    self.flush()
                    self._start, self._repeated, self._length = places[done], 0, -between
                    self._kinds.add(kind)
                    stop = max(stop, bisect_right(ends, before + self._target + between, done))
            self._take(texts[done:stop], kind)
            self._length += ends[stop - 1] - before
            self._stop = places[stop - 1] + 1
            self._pages += pages[done:stop]
            done = stop

    def _take(self, texts: Sequence[str], kind: str) -> None:
        if kind == "list":
            self._items += texts
        else:
            if self._items:
                self._close_items()
            self._paragraphs += texts
        for text in reversed(texts):
            if text and not text.isspace():
                self._last = text
                break

    def _close_items(self) -> None:
        self._paragraphs.append(_BETWEEN_ITEMS.join(self._items))
        self._items = []

    def _make(
        self, body: str, kinds: set[str], pages: Sequence[int | None], span: tuple[int, int], repeated: int
    ) -> None:
        self._repeated_total += len(self._heading) + repeated
        if self._repeated_total > self._repeated_most:
            raise ValueError(
                f"max_chars: the title, section headings and captions repeated in the chunks come to more than "
                f"{self._repeated_most} characters at block {span[0]}; give a larger max_chars, or shorten them"
            )
        types = ",".join(sorted(kinds)) if len(kinds) > 1 else next(iter(kinds))
        page_start, page_end = _page_range(pages, span[0])
        self._hand_over(
            Grain(self._title, self._section, self._heading, body, types, page_start, page_end, *span, repeated)
        )


def _page_range(pages: Sequence[int | None], place: int) -> tuple[int | None, int | None]:
    if len(pages) == 1:
        return pages[0], pages[0]
    try:
        if None not in pages:
            return min(pages), max(pages)  # type: ignore[type-var]  # no None among them
        known = [page for page in pages if page is not None]
        return min(known, default=None), max(known, default=None)
    except TypeError as error:
        kinds = ", ".join(sorted({type(page).__name__ for page in pages}))
        raise ValueError(f"block {place}: pages of types {kinds} cannot be ordered; give integers") from error
