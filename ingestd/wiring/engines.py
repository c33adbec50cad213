"""Makes converters, chunkers and embedders from settings."""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestd import __version__
from ingestd.convert import ConversionCache, Conversions, ConvertOptions
from ingestd.convert.choice import installed_engines, readable_mimes
from ingestd.convert.types import suffixes_of
from ingestd.discover.rules import Rules
from ingestd.errors import ConfigurationError
from ingestd.model.identity import Digest, Fingerprint
from ingestd.pipeline.parts import Clock, Engines, RootPlan
from ingestd.settings import (
    ChunkerSettings,
    RootConverterSettings,
    RootEmbedderSettings,
    RootSettings,
    Settings,
)
from ingestd.state.roots import RootRow
from ingestd.wiring.segmenters import PREFIX, probe, segmenter_of, signature

if TYPE_CHECKING:
    from ingestd.chunk import ChunkOptions
    from ingestd.embed.cache import VectorCache
    from ingestd.embed.embedding import Embedding

Pinned = Callable[[Fingerprint, Digest], bool]


class Wiring:
    """Engines made at their first use, each once; closed together.

    Parameters
    ----------
    conversions, vectors
        Where the caches are kept.
    pinned
        Whether the conversion of these bytes by this stage is to be kept whatever the cache's bound says.
    """

    def __init__(self, settings: Settings, *, conversions: Path, vectors: Path, pinned: Pinned) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._engines: dict[str, Engines] = {}
        self._conversions_cache = ConversionCache(conversions, settings.converter.cache_bytes, pinned=pinned)
        self._vectors_file = vectors
        self._vector_cache: VectorCache | None = None
        self._conversions: dict[RootConverterSettings, Conversions] = {}
        self._embeddings: dict[str, Embedding] = {}

    def plan(self, row: RootRow, root: RootSettings) -> RootPlan:
        """How the files of a root are treated."""
        return RootPlan(
            row=row,
            rules=Rules(
                include=root.include,
                exclude=root.exclude,
                recursive=root.recursive,
                wanted_suffixes=suffixes_of(readable_mimes(convert_options(root.converter))),
            ),
            follow_links=root.follow_links,
            tags=root.tags,
            settings_digest=self._settings_digest(root),
            engines_of=lambda: self.engines(root),
        )

    def _settings_digest(self, root: RootSettings) -> str:
        embedder = embedder_configuration(self.settings, root.embedder)
        value = [
            __version__,
            asdict(root.converter),
            installed_engines(),
            asdict(root.chunker),
            signature(root.chunker),
            embedder,
        ]
        return sha256(json.dumps(value, sort_keys=True, default=os.fspath).encode()).hexdigest()

    def engines(self, root: RootSettings) -> Engines:
        """Engines of a root, made once."""
        with self._lock:
            if root.name not in self._engines:
                self._engines[root.name] = self._make_engines(root)
            return self._engines[root.name]

    def _make_engines(self, root: RootSettings) -> Engines:
        from ingestd.chunk import chunk_stage

        configuration = embedder_configuration(self.settings, root.embedder)
        embedding = self.embedding(configuration)
        options, splitter = chunk_options(root.chunker), segmenter_of(root.chunker)
        # Now, rather than at the first long section, in the middle of the work.
        probe(splitter)
        tokenizer = str(embedding.stage.options.get("tokenizer_sha256", embedding.stage.name))
        return Engines(
            conversions=self.conversions(root.converter),
            chunk_options=options,
            chunk_stage=chunk_stage(
                options, splitter.name, tokenizer, embedding.max_tokens, embedder=embedding.stage.digest
            ),
            segmenter=splitter,
            embedding=embedding,
            embedder=configuration,
        )

    def conversions(self, converter: RootConverterSettings) -> Conversions:
        """Converters under these settings."""
        if converter not in self._conversions:
            self._conversions[converter] = Conversions(
                options=convert_options(converter),
                cache=self._conversions_cache,
                workers=self.settings.converter.workers,
            )
        return self._conversions[converter]

    def embedding(self, configuration: str) -> "Embedding":
        """Embedder of this configuration (JSON), with the vector cache in front."""
        with self._lock:
            return self._embedding(configuration)

    def _embedding(self, configuration: str) -> "Embedding":
        from ingestd.embed.cache import VectorCache
        from ingestd.embed.embedding import Embedding

        if configuration not in self._embeddings:
            value = json.loads(configuration)
            if self._vector_cache is None and self.settings.embedder.cache_bytes:
                self._vectors_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._vector_cache = VectorCache(self._vectors_file, self.settings.embedder.cache_bytes)
            self._embeddings[configuration] = Embedding(
                name=value["name"],
                options=value["options"],
                cache=self._vector_cache,
                idle_seconds=self.settings.embedder.idle_seconds,
                batch_tokens=self.settings.embedder.batch_tokens,
            )
        return self._embeddings[configuration]

    @property
    def embeddings(self) -> "Mapping[str, Embedding]":
        """Embedders made so far, by their configuration."""
        return self._embeddings

    def close(self) -> None:
        """End every child and close the caches."""
        for embedding in self._embeddings.values():
            embedding.close()
        for conversions in self._conversions.values():
            conversions.close()
        if self._vector_cache is not None:
            self._vector_cache.close()


def embedder_configuration(settings: Settings, embedder: RootEmbedderSettings) -> str:
    """Name and options of an embedder as canonical JSON: what its factory takes."""
    shared = settings.embedder
    options: dict[str, Any] = {
        "device": shared.device,
        "threads": shared.threads,
        "model_dir": str(embedder.model_dir) if embedder.model_dir is not None else None,
        "dimension": embedder.dimension,
    }
    chosen = {key: value for key, value in options.items() if value not in (None, "auto")}
    return json.dumps({"name": embedder.name, "options": chosen}, sort_keys=True)


def chunk_options(chunker: ChunkerSettings) -> "ChunkOptions":
    """Options of the chunker.

    Raises
    ------
    ConfigurationError
        When the sizes contradict each other, those that the chunker derives from others included.
    """
    from ingestd.chunk import ChunkOptions, sizes_of

    options = ChunkOptions(
        **{key: value for key, value in asdict(chunker).items() if key != "segmenter" and not key.startswith(PREFIX)}
    )
    try:
        sizes_of(options)
    except ValueError as error:
        raise ConfigurationError(f"[chunker]: {error}") from error
    return options


def convert_options(converter: RootConverterSettings) -> ConvertOptions:
    """Options of the converters."""
    return ConvertOptions(
        pdf=converter.pdf,
        office=converter.office,
        ocr=converter.ocr,
        ocr_languages=converter.ocr_languages,
        max_ocr_pages=converter.max_ocr_pages,
        ocr_page_seconds=converter.ocr_page_seconds,
        timeout_seconds=converter.timeout_seconds,
        page_seconds=converter.page_seconds,
        memory_bytes=converter.memory_bytes,
        max_pages=converter.max_pages,
        text_bytes=converter.max_text_bytes,
        office_bytes=converter.max_office_bytes,
        pdf_bytes=converter.max_pdf_bytes,
    )


def clock() -> Clock:
    """The machine's own time."""
    return Clock(wall_ns=time.time_ns, monotonic=time.monotonic, random=random.random)
