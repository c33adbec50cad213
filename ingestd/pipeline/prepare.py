"""Makes one source ready to be published: staged, converted, chunked; nothing durable changes but the caches."""

from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from ingestd.chunk import chunk
from ingestd.convert.types import mime_of, promised
from ingestd.errors import FileEmpty
from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.model.identity import Fingerprint, PointId, document_id
from ingestd.model.recipe import Recipe
from ingestd.model.source import SourceKey, display
from ingestd.pipeline.cuts import cut_vectors
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.tally import Tally
from ingestd.publish.payload import Facts, Origin
from ingestd.publish.points import point_ids
from ingestd.stage import Staged, stage
from ingestd.state import documents, quarantine
from ingestd.state.documents import Made
from ingestd.state.generations import GenerationRow
from ingestd.state.quarantine import Failure
from ingestd.state.sources import SourceRow

HELD_BYTES = 4 * 1024 * 1024
"""Largest file that is converted from memory, without a private copy on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document ready to be embedded."""

    source: SourceRow
    plan: RootPlan
    generation: GenerationRow
    origin: Origin
    made: Made
    chunks: tuple[Chunk, ...]
    characters: int
    """Of the chunks' texts."""
    ids: tuple[PointId, ...]
    converted: bool
    """False when the conversion came from the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """What is served is already what would be made."""

    source: SourceRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The source cannot be made ready."""

    source: SourceRow
    stage: str
    stage_digest: str
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBefore:
    """The same bytes failed in the same stage under another path."""

    source: SourceRow
    failure: Failure


Outcome = Prepared | Unchanged | Failed | FailedBefore


def prepare(parts: Parts, plan: RootPlan, generation: GenerationRow, source: SourceRow, tally: Tally) -> Outcome:
    """Make the source ready; every failure of its own is a value."""
    progress = _Progress()
    try:
        return _prepare(parts, plan, generation, source, tally, progress)
    except Exception as error:  # noqa: BLE001  one attempt at one source: whatever happens stays with it
        return Failed(source=progress.source or source, stage=progress.stage, stage_digest=progress.digest, error=error)


@dataclass(slots=True)
class _Progress:
    stage: str = "stage"
    digest: str = ""
    source: SourceRow | None = None

    def enter(self, stage: str, digest: str) -> None:
        self.stage, self.digest = stage, digest


def _prepare(
    parts: Parts, plan: RootPlan, generation: GenerationRow, source: SourceRow, tally: Tally, progress: _Progress
) -> Outcome:
    staged: Staged | None = None
    if source.fingerprint is None or source.mime is None:
        with tally.timed("stage"):
            staged, mime = _stage_unknown(parts, plan, source)
        source = replace(source, fingerprint=staged.fingerprint, mime=mime)
    progress.source = source
    try:
        return _convert_and_chunk(parts, plan, generation, source, staged, tally, progress)
    finally:
        if staged is not None:
            staged.discard()


def _convert_and_chunk(
    parts: Parts,
    plan: RootPlan,
    generation: GenerationRow,
    source: SourceRow,
    staged: Staged | None,
    tally: Tally,
    progress: _Progress,
) -> Outcome:
    assert source.fingerprint is not None and source.mime is not None and source.signature is not None  # noqa: PT018
    progress.enter("convert", "")
    recipe = plan.recipe(source.mime)
    progress.enter("convert", recipe.convert.digest)
    facts = Facts(
        key=SourceKey(plan.name, source.path),
        mime=source.mime,
        modified_ns=source.signature.mtime_ns,
        tags=plan.tags,
    )
    made = _made(source.fingerprint, recipe, facts)
    doc_id = document_id(parts.instance, plan.name, source.path)
    with parts.ledger.read() as transaction:
        served = documents.find(transaction, generation.id, doc_id)
        known = quarantine.known_failure(transaction, source.fingerprint, recipe.convert.digest)
    if served is not None and served.version > 0 and served.made == made:
        return Unchanged(source=source)
    if known is not None:
        return FailedBefore(source=source, failure=known)
    document, reused = _convert(parts, plan, source, staged, tally)
    # Of the whole recipe: another converter, or one more token that the embedder takes, may mend it.
    progress.enter("chunk", recipe.digest)
    return assembled(parts, plan, generation, source, Conversion(document=document, facts=facts, reused=reused), tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A document of a source's bytes, with what is said of the file beside it."""

    document: Document
    facts: Facts
    reused: bool
    """It came from the cache."""


def assembled(
    parts: Parts, plan: RootPlan, generation: GenerationRow, source: SourceRow, conversion: Conversion, tally: Tally
) -> Prepared:
    """The converted document chunked by the recipe in force, ready to be embedded.

    Raises
    ------
    FileEmpty
        When nothing in it can be indexed.
    NotChunkable
        When the profile ``compat`` makes a chunk that the embedder does not take.
    EmbedderUnavailable, BadVectors
        When the profile ``compat`` asked it where to cut.
    """
    assert source.fingerprint is not None and source.mime is not None  # noqa: PT018
    recipe = plan.recipe(source.mime)
    doc_id = document_id(parts.instance, plan.name, source.path)
    chunks = _chunk(parts, plan, conversion.document, tally)
    return Prepared(
        source=source,
        plan=plan,
        generation=generation,
        origin=Origin(
            instance=parts.instance,
            doc_id=doc_id,
            fingerprint=source.fingerprint,
            facts=conversion.facts,
            recipe=recipe,
            document=conversion.document,
            chunk_count=len(chunks),
        ),
        made=_made(source.fingerprint, recipe, conversion.facts),
        chunks=chunks,
        characters=sum(len(one.text) for one in chunks),
        ids=point_ids(chunks, doc_id, recipe.embed.digest),
        converted=not conversion.reused,
    )


def _made(fingerprint: Fingerprint, recipe: Recipe, facts: Facts) -> Made:
    return Made(
        fingerprint=fingerprint,
        convert_digest=recipe.convert.digest,
        chunk_digest=recipe.chunk.digest,
        facts_digest=facts.digest,
    )


def _stage_unknown(parts: Parts, plan: RootPlan, source: SourceRow) -> tuple[Staged, str]:
    """The file, and its type."""
    name = source.path.rpartition(b"/")[2]
    expected = promised(name)
    while True:
        staged = _stage(parts, plan, source, expected)
        try:
            mime = mime_of(name, staged.head)
        except BaseException:
            staged.discard()
            raise
        if staged.path is not None or plan.conversions.reads_bytes(mime):
            return staged, mime
        # Its bytes are not what its name promises, and whoever reads them needs a copy.
        expected = mime


def _stage(parts: Parts, plan: RootPlan, source: SourceRow, mime: str | None) -> Staged:
    """The file: in memory where it is small and its converter, by the type, needs no copy."""
    assert source.signature is not None
    held = mime is not None and source.signature.size <= HELD_BYTES and plan.conversions.reads_bytes(mime)
    return stage(
        plan.row.path,
        source.path,
        source.signature,
        into=parts.staging,
        limit_bytes=plan.conversions.size_limit(source.path),
        copy=not held,
        keep_content=held,
        follow_links=plan.follow_links,
    )


def _convert(
    parts: Parts, plan: RootPlan, source: SourceRow, staged: Staged | None, tally: Tally
) -> tuple[Document, bool]:
    assert source.fingerprint is not None and source.mime is not None and source.signature is not None  # noqa: PT018
    name = display(source.path.rpartition(b"/")[2])
    # What was read just now is looked for in the cache by the conversion itself; what was not need not be, if it is there.
    cached = plan.conversions.cached(source.fingerprint, source.mime, name) if staged is None else None
    if cached is not None:
        return cached, True
    fresh = staged or _stage(parts, plan, source, source.mime)
    file = fresh.content if fresh.path is None else fresh.path
    assert file is not None
    try:
        begun = monotonic()
        made = plan.conversions.convert(
            path=file, name=name, mime=source.mime, size=fresh.size, fingerprint=fresh.fingerprint
        )
        tally.spent("convert", monotonic() - begun)
    finally:
        if staged is None:
            fresh.discard()
    return made.document, made.reused


def _chunk(parts: Parts, plan: RootPlan, document: Document, tally: Tally) -> tuple[Chunk, ...]:
    engines = plan.engines
    with tally.timed("chunk"):
        chunked = chunk(
            document,
            engines.chunk_options,
            engines.embedding.count,
            engines.segmenter,
            max_tokens=engines.embedding.max_tokens,
            embed=partial(cut_vectors, engines.embedding, parts.stop),
        )
    if not chunked.chunks:
        reasons = ", ".join(sorted({skipped.reason for skipped in chunked.skipped})) or "it has no text"
        raise FileEmpty(f"nothing in the document can be indexed: {reasons}")
    return chunked.chunks
