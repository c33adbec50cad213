"""Heading paths: in full for the payload, shortened where they would crowd the text out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ingestd.chunk.graphemes import boundary
from ingestd.chunk.outline import Section
from ingestd.chunk.scale import Counter, Scale

DEEPEST = 64
"""Most headings of a path; the outermost of a deeper one are left out."""
SHARE = 3
"""A shown path takes at most this part of the cap: one third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The part of a path that stands in a chunk's text."""

    lines: tuple[str, ...]
    whole: tuple[int, ...]
    """Sections whose whole heading is among the lines, innermost first; few, and no set, which takes 200 bytes more."""
    tokens: int
    chars: int
    """With the blank line that follows."""

    def says(self, sections: Iterable[int]) -> bool:
        """Whether the whole headings of all the sections are among the lines."""
        return all(section in self.whole for section in sections)


NOTHING = Shown(lines=(), whole=(), tokens=0, chars=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Paths of a document's sections."""

    sections: tuple[Section, ...]
    line_tokens: tuple[int, ...]
    """Of each section's line."""
    scale: Scale
    counter: Counter
    _full: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]], repr=False)
    _shown: dict[int, Shown] = field(default_factory=dict[int, Shown], repr=False)

    def full(self, section: int) -> tuple[str, ...]:
        """Lines of the ancestors and of the section itself, outermost first, at most :data:`DEEPEST`."""
        if section not in self._full:
            self._full[section] = tuple(self.sections[number].line for number in self._climb(section))[::-1]
        return self._full[section]

    def shown(self, section: int) -> Shown:
        """Lines for the text: outermost ones are dropped until the rest takes at most its share of the cap."""
        found = self._shown.get(section)
        if found is None:
            found = self._shown[section] = self._fit(section)
        return found

    def _climb(self, section: int) -> Iterator[int]:
        """The section and its ancestors, innermost first."""
        for _ in range(DEEPEST):
            if not section:
                return
            yield section
            section = self.sections[section].parent

    def _fit(self, section: int) -> Shown:
        budget = self.scale.room / SHARE
        joint, per_token, per_char = self.scale.joint, self.scale.per_token, self.scale.per_char
        kept: list[int] = []
        tokens, chars = joint, 2
        for number in self._climb(section):
            more_tokens = tokens + self.line_tokens[number] + joint
            more_chars = chars + len(self.sections[number].line) + 1
            if more_tokens * per_token > budget or more_chars * per_char > budget:
                break
            kept.append(number)
            tokens, chars = more_tokens, more_chars
        if not kept and section:
            return self._cut(self.sections[section].line, budget)
        return Shown(
            lines=tuple([self.sections[number].line for number in reversed(kept)]),
            whole=tuple([number for number in kept if self.sections[number].whole]),
            tokens=tokens if kept else 0,
            chars=chars if kept else 0,
        )

    def _cut(self, line: str, budget: float) -> Shown:
        """The beginning of the one heading that is too long, with an ellipsis."""
        length = len(line)
        while length > 8:
            length //= 2
            cut = line[: boundary(line, length, 0, len(line))].rstrip() + "\u2026"
            tokens = self.counter.net([cut], len(cut))[0] + self.scale.joint
            if self.scale.size(tokens, len(cut) + 2) <= budget:
                return Shown(lines=(cut,), whole=(), tokens=tokens, chars=len(cut) + 2)
        return NOTHING


def paths(sections: tuple[Section, ...], line_tokens: Sequence[int], scale: Scale, counter: Counter) -> Paths:
    """Paths of the sections, whose lines take so many tokens."""
    return Paths(sections=sections, line_tokens=tuple(line_tokens), scale=scale, counter=counter)
