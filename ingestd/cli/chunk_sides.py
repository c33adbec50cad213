"""The chunks of one file by two versions of a chunker."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingestd.cli.chunk import converted
from ingestd.cli.file_cuts import NATIVE, Side, Subject, cut
from ingestd.cli.served_chunks import Shown, served_chunks, served_document, served_markdown
from ingestd.errors import ConfigurationError
from ingestd.model.document import Document

SERVED = "served"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both sides, with what to know about their comparison."""

    file: Path
    before: Side
    after: Side
    same_markdown: bool
    """Whether the offsets of both count in the same Markdown."""
    same_space: bool
    """Whether a text of the first side has a vector that the second side can use."""
    notes: tuple[str, ...]
    """For people: what else but the chunker may make a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Basis:
    """What is cut now."""

    document: Document
    same_markdown: bool = True
    """Whether the served chunks were made of the same Markdown."""
    note: str = ""


def sides(subject: Subject, before: str, after: str | None) -> Sides:
    """Chunks of both sides.

    Parameters
    ----------
    before, after
        A number, ``compat`` or ``served``; without ``after`` it is the version that is configured.

    Raises
    ------
    ConfigurationError
        When a version is neither known here nor the one that the store serves, or nothing of the file is served.
    PermanentError
        When the file cannot be converted.
    """
    from ingestd.chunk.versions import runnable

    chunker = subject.chunker()
    known = runnable(chunker.name)
    wanted = (before, after or (str(max(known)) if chunker.profile == NATIVE else chunker.profile))
    unknown = {version for version in wanted if version.isdigit() and int(version) not in known}
    served = _served(subject, wanted, unknown)
    for version in sorted(unknown):
        _refuse_unless_served(subject, served, version, list(known))
    made = {} if served is None else {version: _stored_side(served, version) for version in (SERVED, *unknown)}
    missing = [version for version in dict.fromkeys(wanted) if version not in made]
    notes: list[str] = []
    same_markdown = True
    if missing:
        basis = _basis(subject, served)
        same_markdown, notes = basis.same_markdown, [basis.note] if basis.note else []
        made |= {version: cut(subject, basis.document, version) for version in missing}
    first, second = (made[version] for version in wanted)
    return Sides(
        file=subject.file,
        before=first,
        after=second,
        same_markdown=same_markdown,
        same_space=_same_space(subject, first, second),
        notes=(*notes, *(side.note for side in (first, second) if side.note), *_why_else(first, second)),
    )


def _served(subject: Subject, wanted: Sequence[str], unknown: Collection[str]) -> Shown | None:
    """What is served of the file, where it is asked for; raises where nothing is, and no number stands for it."""
    if SERVED in wanted:
        return served_document(subject.invocation, subject.file)
    if unknown:
        # A number that is neither known nor served is refused with what is known.
        with suppress(ConfigurationError):
            return served_document(subject.invocation, subject.file)
    return None


def _refuse_unless_served(subject: Subject, served: Shown | None, version: str, known: list[int]) -> None:
    name = subject.chunker().name
    if served is not None and (served.get("chunker"), str(served.get("chunker_version"))) == (name, version):
        return
    here = ", ".join(map(str, known))
    held = ""
    if served is not None:
        held = f", and what is served of {subject.name} was made by {served['chunker']} {served['chunker_version']}"
    raise ConfigurationError(
        f"{name} {version} is not in this installation, which runs {here} and compat{held}: name one of these, or served "
        f"for what the store holds (--from {SERVED})"
    )


def _stored_side(served: Shown, version: str) -> Side:
    return Side(
        version=version,
        chunker=served["chunker"],
        chunker_version=served["chunker_version"],
        chunks=served_chunks(served),
        served=served,
    )


def _basis(subject: Subject, served: Shown | None) -> _Basis:
    """The Markdown that was cut for what is served, where it can be had; else that of the file."""
    converter: str | None = subject.invocation.arguments.converter
    if served is None:
        return _Basis(document=converted(subject.file, subject.converter, converter))
    changed = subject.fingerprint != served["served_fingerprint"]
    what = f"{subject.name} has changed since version {served['version']}, which is served"
    kept = None if converter is not None else served_markdown(subject.invocation, served)
    if kept is not None:
        return _Basis(document=kept, note=f"{what}: compared on the text of that version" if changed else "")
    document = converted(subject.file, subject.converter, converter)
    if changed:
        way_out = "`ingestd sync` takes it up, and then only the chunker differs"
        note = f"{what}, and the text of that version is not kept: its edits are among the differences; {way_out}"
        return _Basis(document=document, same_markdown=False, note=note)
    if document.converter != served["converter"]:
        note = f"converted by {document.converter}, what is served by {served['converter']}: that may differ too"
        return _Basis(document=document, same_markdown=False, note=note)
    return _Basis(document=document)


def _same_space(subject: Subject, before: Side, after: Side) -> bool:
    """Told only where a store is asked, and the embedder is the configured one."""
    if not before.served or after.served or subject.invocation.arguments.embedder is not None:
        return True
    return bool(before.served["embed_digest"] == subject.embedder.stage.digest)


def _why_else(before: Side, after: Side) -> list[str]:
    if bool(before.served) == bool(after.served):
        return []
    if (before.chunker, str(before.chunker_version)) != (after.chunker, str(after.chunker_version)):
        return []
    if [chunk.text for chunk in before.chunks] == [chunk.text for chunk in after.chunks]:
        return []
    versions = f"both sides are {before.chunker} {before.chunker_version}"
    return [f"{versions}: what differs comes from sizes, unit, segmenter or tokenizer, which the recipe holds too"]
