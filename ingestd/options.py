"""What the settings mean to the stages and adapters: each one's own options."""

from pathlib import Path
from typing import Any

from ingestd.chunk.options import ChunkOptions, sizes_of
from ingestd.convert.options import ConvertOptions
from ingestd.errors import ConfigurationError
from ingestd.settings import (
    ChunkerSettings,
    EmbedderSettings,
    RootConverterSettings,
    RootEmbedderSettings,
    StoreSettings,
)


def convert_options(converter: RootConverterSettings) -> ConvertOptions:
    """Options of the conversion."""
    return ConvertOptions(
        pdf=converter.pdf,
        office=converter.office,
        timeout_seconds=converter.timeout_seconds,
        page_seconds=converter.page_seconds,
        memory_bytes=converter.memory_bytes,
        max_pages=converter.max_pages,
        text_bytes=converter.max_text_bytes,
        office_bytes=converter.max_office_bytes,
        pdf_bytes=converter.max_pdf_bytes,
    )


def chunk_options(chunker: ChunkerSettings) -> ChunkOptions:
    """Options of the chunker.

    Raises
    ------
    ConfigurationError
        When the sizes contradict each other, defaults that depend on them included.
    """
    options = ChunkOptions(
        name=chunker.name,
        profile=chunker.profile,
        max_size=chunker.max_size,
        min_size=chunker.min_size,
        target_size=chunker.target_size,
        unit=chunker.unit,
    )
    try:
        sizes_of(options)
    except ValueError as error:
        raise ConfigurationError(f"[chunker]: {error}") from error
    return options


def embedder_options(space: RootEmbedderSettings, embedder: EmbedderSettings) -> dict[str, object]:
    """Options of the embedder's factory: those that someone set, since no embedder knows all of them.

    Parameters
    ----------
    space
        The root's vector space.
    embedder
        The device that all roots share.
    """
    options: dict[str, object] = {}
    if space.model_dir is not None:
        options["model_dir"] = str(space.model_dir)
    if space.dimension is not None:
        options["dimension"] = space.dimension
    if embedder.device != "auto":
        options["device"] = embedder.device
    if embedder.threads is not None:
        options["threads"] = embedder.threads
    return options


def store_options(store: StoreSettings, directory: Path) -> dict[str, object]:
    """Options of the store's factory; ``directory`` is where an embedded one keeps its files."""
    options: dict[str, Any] = {}
    if store.timeout_seconds is not None:
        options["timeout_seconds"] = store.timeout_seconds
    if store.kind == "edge":
        return {**options, "directory": str(directory), "min_free_bytes": store.min_free_bytes}
    options["prefer_grpc"] = store.prefer_grpc
    if store.url is not None:
        options["url"] = store.url
    if store.api_key_file is not None:
        options["api_key_file"] = str(store.api_key_file)
    return options
