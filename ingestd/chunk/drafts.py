"""A chunk before it is written out, and the string that it becomes."""

from dataclasses import dataclass

from ingestd.chunk.atoms import Atom
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.paths import NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Atoms in order, and the innermost section that holds them all."""

    atoms: tuple[Atom, ...]
    section: int
    bare: bool = False
    """Without its heading path, for want of room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The exact strings of a draft."""

    text: str
    """Heading path, blank line, body."""
    body: str


def written(manuscript: Manuscript, draft: Draft) -> Written:
    """Strings of the draft.

    Headings at its beginning that the shown path holds whole are not said again in the body, unless nothing else is
    there. What was skipped between two blocks leaves a blank line.
    """
    shown = NOTHING if draft.bare else manuscript.paths.shown(draft.section)
    atoms = draft.atoms[leading(manuscript, draft) :]
    body = _body(manuscript.markdown, atoms)
    return Written(text="\n".join([*shown.lines, "", body]) if shown.lines else body, body=body)


def leading(manuscript: Manuscript, draft: Draft) -> int:
    """How many atoms at the beginning are headings that the path says; one atom at least is left."""
    if draft.bare:
        return 0
    whole = manuscript.paths.shown(draft.section).whole
    count = 0
    for atom in draft.atoms[:-1]:
        if not (manuscript.is_heading(atom.block) and manuscript.section_of[atom.block] in whole):
            break
        count += 1
    return count


def _body(markdown: str, atoms: tuple[Atom, ...]) -> str:
    """What the atoms hold, with what stands around and between them; cut out in one piece as far as nothing does."""
    before, parts = atoms[0], [atoms[0].before]
    start = before.start
    for atom in atoms:
        # Between parts of one block lies nothing but white space.
        if atom.block != before.block:
            between = markdown[before.end : atom.start]
            skipped = bool(between) and not between.isspace()
            if skipped or before.after or atom.before:
                parts += markdown[start : before.end], before.after, "\n\n" if skipped else between, atom.before
                start = atom.start
        before = atom
    parts += markdown[start : before.end], before.after
    return "".join(parts)
