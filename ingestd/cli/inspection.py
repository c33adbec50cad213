"""What ``ingestd check`` finds, subject by subject."""

import json
import os
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from ingestd import __version__
from ingestd.chunk import sizes_of, unit_of
from ingestd.cli.invocation import Invocation
from ingestd.convert import ConversionCache, Conversions
from ingestd.convert.types import DOCX, HTML, MARKDOWN, PDF, PPTX
from ingestd.embed.named import embedder_named
from ingestd.errors import ConfigurationError, IngestdError, StateUnusable, UnsupportedType
from ingestd.model.source import display
from ingestd.settings import ChunkerSettings, RootConverterSettings, RootSettings, Settings
from ingestd.settings.checks import state_below_a_root
from ingestd.settings.findings import dotted, report
from ingestd.settings.reading import examine
from ingestd.wiring.engines import chunk_options, convert_options, embedder_configuration
from ingestd.wiring.segmenters import distinct, probe, segmenter_of
from ingestd.wiring.stores import store

_PACKAGES = ("numpy", "onnxruntime", "qdrant-edge-py", "qdrant-client", "sqlalchemy", "liteparse", "watchdog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """One thing that was looked at."""

    subject: str
    message: str
    """How it is; where something is amiss, also the way out."""
    amiss: bool = False


def findings(invocation: Invocation) -> Iterator[Inspected]:
    """Look at one subject after the other; a configuration that is wrong leaves nothing else to look at."""
    settings, found = _configuration(invocation)
    yield from found
    if settings is None:
        return
    state = invocation.state_dir
    yield from (_folder(root) for root in settings.roots)
    yield from _state(settings, state)
    yield from _ledger(settings, invocation)
    yield _space(settings, state)
    yield from _chunkers(settings)
    yield from _converters(settings.converter)
    for chunker in distinct(settings):
        yield _tried(f"segmenter {chunker.segmenter}", partial(_segmenter, chunker))
    for space in dict.fromkeys(root.embedder for root in settings.roots) or [settings.embedder]:
        yield _tried(f"embedder {space.name}", partial(_embedder, embedder_configuration(settings, space)))
    yield _tried(f"store {settings.store.kind}", partial(_store, settings, state))


def versions() -> dict[str, str]:
    """Versions of what decides how this installation behaves; packages that are not installed are left out."""
    found = {"ingestd": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _configuration(invocation: Invocation) -> tuple[Settings | None, list[Inspected]]:
    file = invocation.configuration
    if file is None:
        return Settings(), [Inspected(subject="configuration", message="none; the built-in defaults hold")]
    settings, wrong = examine(file, environment=invocation.environment)
    if settings is not None:
        return settings, [Inspected(subject="configuration", message=str(file))]
    lines = report(wrong, file).splitlines()
    return None, [Inspected(subject="configuration", message=line, amiss=True) for line in lines]


def _folder(root: RootSettings) -> Inspected:
    subject = f"root {root.name}"
    path = display(os.fsencode(root.path))
    if not os.access(root.path, os.R_OK | os.X_OK):
        return Inspected(
            subject=subject, amiss=True, message=f"{path} cannot be read by user {os.getuid()}: give it read access"
        )
    return Inspected(subject=subject, message=path)


def _state(settings: Settings, state: Path) -> Iterator[Inspected]:
    below = list(state_below_a_root(settings, state))
    for finding in below:
        yield Inspected(subject="state", amiss=True, message=f"{dotted(finding.path)}: {finding.message}")
    parent = _existing(state)
    if not os.access(parent, os.W_OK | os.X_OK):
        yield Inspected(
            subject="state",
            amiss=True,
            message=f"{parent} cannot be written to: give access, or name another place with --state-dir",
        )
    elif not below:
        yield Inspected(subject="state", message=str(state) if parent == state else f"{state}, to be made")


def _ledger(settings: Settings, invocation: Invocation) -> Iterator[Inspected]:
    """Whether the ledger is whole and ours, where there is one; it is only read."""
    from ingestd.daemon.state import Places, belonging_to, check_structure, is_readable
    from ingestd.state.engine import Ledger

    places = Places(directory=invocation.state_dir)
    if not places.ledger.exists():
        return

    def look() -> str:
        with closing(Ledger(places.ledger)) as ledger:
            check_structure(ledger)
            belonging = belonging_to(configuration=invocation.configuration, instance=settings.instance)
            is_readable(ledger, places.directory, belonging)
        if not places.identity.exists():
            raise StateUnusable(
                f"{places.identity} is missing, and the collections know this state by it: bring it back from a copy, or "
                "run `ingestd sync --adopt`"
            )
        return "whole, and of this configuration"

    yield _tried("ledger", look)


def _space(settings: Settings, state: Path) -> Inspected:
    free, least = shutil.disk_usage(_existing(state)).free, settings.store.min_free_bytes
    message = f"{free // 2**20} MiB free at {_existing(state)}"
    if free >= least:
        return Inspected(subject="disk space", message=message)
    return Inspected(
        subject="disk space",
        amiss=True,
        message=f"{message}, and store.min_free_bytes asks for {least // 2**20} MiB: make room, or name another "
        "place with --state-dir",
    )


def _chunkers(settings: Settings) -> Iterator[Inspected]:
    """Each distinct way to chunk for an embedder once, under the first root that uses it."""
    subjects = {(root.chunker, root.embedder): f"chunker of root {root.name}" for root in reversed(settings.roots)}
    for (chunker, space), subject in (subjects or {(settings.chunker, settings.embedder): "chunker"}).items():
        yield _tried(subject, partial(_chunker, chunker, embedder_configuration(settings, space)))


def _chunker(chunker: ChunkerSettings, configuration: str) -> str:
    options = chunk_options(chunker)
    sizes, limit = sizes_of(options), _most_tokens(configuration)
    unit = unit_of(options)
    if unit == "tokens" and limit is not None and sizes.max_size > limit:
        raise ConfigurationError(
            f"chunker.max_size is {sizes.max_size} tokens and the embedder takes {limit}, where chunks end whatever is "
            f"asked for: set it to at most {limit}, or choose an embedder that takes more"
        )
    return f"{options.name}, at most {sizes.max_size} {unit}"


def _segmenter(chunker: ChunkerSettings) -> str:
    return probe(segmenter_of(chunker))


def _most_tokens(configuration: str) -> int | None:
    chosen = json.loads(configuration)
    try:
        return embedder_named(chosen["name"], chosen["options"]).max_tokens
    except IngestdError:
        return None  # a finding of its own


def _converters(converter: RootConverterSettings) -> Iterator[Inspected]:
    with tempfile.TemporaryDirectory(prefix="ingestd-check-") as scratch:
        cache = ConversionCache(Path(scratch), 0)
        conversions = Conversions(options=convert_options(converter), cache=cache, workers=1)
        # A base install reads the first four; the others need an extra, whose absence is amiss when it was asked for.
        for name, mime, optional in (
            ("Markdown", MARKDOWN, False),
            ("HTML", HTML, False),
            ("PDF", PDF, False),
            ("DOCX", DOCX, False),
            ("PPTX", PPTX, converter.office == "auto"),
        ):
            yield _converter(conversions, f"converter of {name}", mime, optional=optional)
        conversions.close()


def _converter(conversions: Conversions, subject: str, mime: str, *, optional: bool) -> Inspected:
    try:
        stage = conversions.stage_for(mime)
        read = f", pages without text by {ocr['engine']}" if (ocr := stage.options.get("ocr")) else ""
        return Inspected(subject=subject, message=f"{stage.name}/{stage.version}{read}")
    except UnsupportedType as error:
        return Inspected(subject=subject, message=f"none: {error}", amiss=not optional)
    except IngestdError as error:
        return Inspected(subject=subject, message=str(error), amiss=True)


def _embedder(configuration: str) -> str:
    chosen = json.loads(configuration)
    embedder = embedder_named(chosen["name"], chosen["options"])
    embedder.load()
    return f"loaded and verified, {embedder.dimension} dimensions, {embedder.max_tokens} tokens, on {embedder.device}"


def _store(settings: Settings, state: Path) -> str:
    made = store(settings, state / "store")
    if settings.store.kind == "edge":
        # Its files may be in use by a daemon, and are made at the first write.
        return "its engine is installed"
    try:
        return f"{settings.store.url} answers, {len(made.generations())} collections of ours"
    finally:
        made.close()


def _tried(subject: str, look: Callable[[], str]) -> Inspected:
    try:
        return Inspected(subject=subject, message=look())
    except IngestdError as error:
        return Inspected(subject=subject, message=str(error), amiss=True)


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())
