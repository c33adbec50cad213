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
    parts: list[str] = []
    before: Atom | None = None
    for atom in atoms:
        continued = before is not None and before.block == atom.block
        if before is not None:
            parts.append(before.after if not continued else "")
            parts.append(_gap(markdown, before.end, atom.start))
        parts.append("" if continued else atom.before)
        parts.append(markdown[atom.start : atom.end])
        before = atom
    parts.append(before.after if before is not None else "")
    return "".join(parts)


def _gap(markdown: str, start: int, end: int) -> str:
    """White space as it is in the Markdown; a blank line in place of what was skipped."""
    between = markdown[start:end]
    return between if not between or between.isspace() else "\n\n"
