"""One file, cut by versions of the chunker that is configured for it."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ingestd.cli.chunk import chunker_of, embedder_of, looked_into
from ingestd.cli.invocation import Invocation
from ingestd.errors import NotChunkable
from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.model.identity import Fingerprint
from ingestd.model.source import display
from ingestd.settings import ChunkerSettings, RootConverterSettings, RootEmbedderSettings

if TYPE_CHECKING:
    # Imports numpy, which other commands have no use for.
    from ingestd.ports.embedder import Embedder

COMPAT, NATIVE = "compat", "native"
_SIZES = ("max_size", "min_size", "target_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The file, and what it is cut with."""

    invocation: Invocation
    file: Path
    """Absolute, links not followed: as the ledger knows it."""
    fingerprint: Fingerprint
    """Of the file as it is now."""
    configured: ChunkerSettings
    converter: RootConverterSettings
    embedder: "Embedder"

    @property
    def name(self) -> str:
        """The path, for people."""
        return display(os.fsencode(self.file))

    def chunker(self, profile: str | None = None) -> ChunkerSettings:
        """The configured chunker with the flags; another profile than the configured one takes no sizes of it.

        Sizes given as flags are what the configured profile counts, and go to the other with ``--unit chars``, which both
        can count.
        """
        arguments: argparse.Namespace = self.invocation.arguments
        crosses = profile not in (None, self.configured.profile)
        if crosses and arguments.unit != "chars":
            arguments = argparse.Namespace(**(vars(arguments) | dict.fromkeys((*_SIZES, "unit"))))
        return chunker_of(self.configured, arguments, profile=profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The file's chunks by one version."""

    version: str
    """As it was asked for: a number, ``compat`` or ``served``."""
    chunker: str
    """As it stands in the recipe."""
    chunker_version: int | str
    chunks: tuple[Chunk, ...]
    follows: str = ""
    """The published package whose chunks these are."""
    served: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Where the chunks are those that the store holds: what ``ingestd show`` says of their document."""
    note: str = ""
    """For people: what to know about them."""


def subject(invocation: Invocation) -> Subject:
    """The file that the command line names, with the settings of the root that it is in.

    Raises
    ------
    ConfigurationError
        When there is no such file, or the settings are wrong.
    """
    settings = invocation.settings(absent_folders="allowed")
    file = Path(os.path.abspath(invocation.here / invocation.arguments.file))  # noqa: PTH100  links are not followed
    _, _, fingerprint = looked_into(file)
    rules = next((root for root in settings.roots if file.is_relative_to(root.path)), settings)
    space: RootEmbedderSettings = rules.embedder
    return Subject(
        invocation=invocation,
        file=file,
        fingerprint=fingerprint,
        configured=rules.chunker,
        converter=rules.converter,
        embedder=embedder_of(settings, space, invocation.arguments.embedder),
    )


def cut(subject: Subject, document: Document, version: str) -> Side:
    """Chunks of the document by a version that this installation runs: a number, or ``compat``.

    Raises
    ------
    ConfigurationError
        When the sizes contradict each other, or there is no such segmenter.
    NotChunkable
        When the published package's rules refuse the document.
    """
    return _compat(subject, document) if version == COMPAT else _native(subject, document, int(version))


def _native(subject: Subject, document: Document, version: int) -> Side:
    from ingestd.chunk.versions import runnable
    from ingestd.wiring.engines import chunk_options
    from ingestd.wiring.segmenters import segmenter_of

    chunker, embedder = subject.chunker(NATIVE), subject.embedder
    cut_by = runnable(chunker.name)[version]
    made = cut_by(
        document, chunk_options(chunker), embedder.count_tokens, segmenter_of(chunker), max_tokens=embedder.max_tokens
    )
    return Side(version=str(version), chunker=chunker.name, chunker_version=version, chunks=made.chunks)


def _compat(subject: Subject, document: Document) -> Side:
    from ingestd.chunk import SEEDS, chunk_stage
    from ingestd.chunk.compat.chunking import fitted_chunked, seed_chunked
    from ingestd.cli.compat_chunks import embed_with
    from ingestd.wiring.engines import chunk_options
    from ingestd.wiring.segmenters import segmenter_of

    chunker, embedder = subject.chunker(COMPAT), subject.embedder
    options, segmenter = chunk_options(chunker), segmenter_of(chunker)
    embed = embed_with(embedder, subject.invocation.arguments.embedder)
    count, note = embedder.count_tokens, ""
    try:
        made = fitted_chunked(document, options, count, segmenter, embed, max_tokens=embedder.max_tokens)
    except NotChunkable as over:
        made = seed_chunked(document, options, count, segmenter, embed)
        note = f"with compat the file would be refused: {over}"
    stage = chunk_stage(options, segmenter.name, "", embedder.max_tokens)
    return Side(
        version=COMPAT,
        chunker=stage.name,
        chunker_version=stage.version,
        chunks=made.chunks,
        follows=SEEDS[chunker.name],
        note=note,
    )
