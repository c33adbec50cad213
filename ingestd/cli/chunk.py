"""``ingestd chunk``: the chunks of one file, without a store."""

import argparse
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ingestd.cli.arguments import Commands, add_command, positive
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.errors import ConfigurationError, FileUnreadable
from ingestd.model.document import Document
from ingestd.model.identity import Fingerprint
from ingestd.model.source import display
from ingestd.settings import ChunkerSettings, RootConverterSettings, RootEmbedderSettings, Settings

if TYPE_CHECKING:
    # Import numpy, which other commands have no use for.
    from ingestd.chunk import Chunked
    from ingestd.chunk.typed_blocks import TypedBlocks, Types
    from ingestd.ports.embedder import Embedder

NOOP = "noop"
"""Name of the embedder for runs without a model: tokens are counted by length."""


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "chunk",
        "print the chunks of one file, a JSON object a line",
        "Neither a store nor a state is touched. What is not given is as configured.",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", type=Path, metavar="FILE", help="the file to convert and chunk")
    source.add_argument(
        "--blocks",
        metavar="FILE",
        help='typed blocks instead: JSON {"filename", "blocks": [{"type", "page", "text"}]} or the list alone, pages '
        "0-based; - reads standard input",
    )
    parser.add_argument(
        "--profile",
        choices=("native", "compat"),
        help="compat: as the published packages cut, sizes in characters; each line then has their own fields too",
    )
    add_flags(parser)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """What a file is converted and cut with, all but the profile."""
    parser.add_argument("--converter", metavar="NAME", help="converter of PDF and office files")
    parser.add_argument("--chunker", choices=("structure-first", "grain-growth"), help="how to cut")
    parser.add_argument("--max-size", type=positive, metavar="N", help="largest chunk, in units")
    parser.add_argument("--min-size", type=int, metavar="N", help="smaller ones are joined to a neighbour, in units")
    parser.add_argument(
        "--target-size", type=positive, metavar="N", help="where a chunk that may choose ends, in units"
    )
    parser.add_argument("--unit", choices=("tokens", "chars"), help="what sizes count")
    parser.add_argument("--segmenter", metavar="NAME", help="splitter of sentences")
    parser.add_argument(
        "--embedder",
        metavar="NAME",
        help=f"whose tokens count; {NOOP}: none, tokens are counted by length and all vectors are the same",
    )


def run(invocation: Invocation) -> ExitCode:
    """Convert, chunk, print."""
    # Here, so that other commands start without chunkers and numpy.
    from ingestd.cli.output import write_json_line, written
    from ingestd.model.chunk import chunk_as_json

    arguments = invocation.arguments
    settings = invocation.settings(absent_folders="allowed")
    chunker = chunker_of(settings.chunker, arguments, profile=arguments.profile)
    embedder = embedder_of(settings, settings.embedder, arguments.embedder)
    if chunker.profile == "compat":
        from ingestd.cli.compat_chunks import compat_chunks

        chunked = compat_chunks(invocation, settings, chunker, embedder)
    else:
        chunked = _native(invocation, settings, chunker, embedder)
    with written(sys.stdout):
        for made in chunked.chunks:
            seed = {"compat": dict(chunked.seeds[made.index])} if chunked.seeds else {}
            write_json_line(sys.stdout, chunk_as_json(made) | seed)
    return ExitCode.DONE


def _native(invocation: Invocation, settings: Settings, chunker: ChunkerSettings, embedder: "Embedder") -> "Chunked":
    from ingestd.chunk import chunk
    from ingestd.wiring.engines import chunk_options
    from ingestd.wiring.segmenters import segmenter_of

    options = chunk_options(chunker)
    blocks = blocks_of(invocation)
    document = file_of(invocation, settings) if blocks is None else blocks.document
    return chunk(document, options, embedder.count_tokens, segmenter_of(chunker), max_tokens=embedder.max_tokens)


def chunker_of(
    configured: ChunkerSettings, arguments: argparse.Namespace, *, profile: str | None = None
) -> ChunkerSettings:
    """The configured chunker with what :func:`add_flags` took in its place.

    Sizes that are configured for one profile say nothing of the other, which may count something else.
    """
    if profile not in (None, configured.profile):
        configured = dataclasses.replace(configured, max_size=None, min_size=None, target_size=None, unit=None)
    flags = {
        "name": arguments.chunker,
        "profile": profile,
        "max_size": arguments.max_size,
        "min_size": arguments.min_size,
        "target_size": arguments.target_size,
        "unit": arguments.unit,
        "segmenter": arguments.segmenter,
    }
    return dataclasses.replace(configured, **{key: value for key, value in flags.items() if value is not None})


def embedder_of(settings: Settings, configured: RootEmbedderSettings, name: str | None) -> "Embedder":
    """Embedder whose tokens count: the named one, else the configured one; its model is not loaded."""
    from ingestd.embed.named import embedder_named
    from ingestd.wiring.engines import embedder_configuration

    if name == NOOP:
        return embedder_named("hash", {})
    if name is not None and name != configured.name:
        return embedder_named(name, {})
    configuration = json.loads(embedder_configuration(settings, configured))
    return embedder_named(configuration["name"], configuration["options"])


def file_of(invocation: Invocation, settings: Settings) -> Document:
    """The file named, converted."""
    arguments = invocation.arguments
    return converted(invocation.here / arguments.file, settings.converter, arguments.converter)


def blocks_of(invocation: Invocation, types: "Types" = "known") -> "TypedBlocks | None":
    """The typed blocks named, as :func:`~ingestd.cli.blocks.blocks_from_json` reads them; ``None`` where a file is named."""
    from ingestd.cli.blocks import blocks_from_json

    named: str | None = invocation.arguments.blocks
    if named is None:
        return None
    if named == "-":
        return blocks_from_json(sys.stdin.read(), "standard input", types=types)
    file = invocation.here / named
    try:
        return blocks_from_json(file.read_text(encoding="utf-8"), file.name, filename=file.stem, types=types)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error


def converted(file: Path, configured: RootConverterSettings, converter: str | None) -> Document:
    """Document of a file, converted now.

    Parameters
    ----------
    converter
        Name of the converter of PDF and office files, in place of the configured ones.

    Raises
    ------
    ConfigurationError
        When there is no such file, or no such converter.
    PermanentError
        With the reason why the file cannot be converted.
    """
    from ingestd.convert import ConversionCache, Conversions, mime_of
    from ingestd.wiring.engines import convert_options

    options = convert_options(configured)
    if converter is not None:
        options = dataclasses.replace(options, pdf=converter, office=converter)
    name = display(os.fsencode(file.name))
    head, size, fingerprint = looked_into(file)
    # A cache that is thrown away: the state belongs to the daemon.
    with tempfile.TemporaryDirectory(prefix="ingestd-chunk-") as scratch:
        conversions = Conversions(options=options, cache=ConversionCache(Path(scratch), 2**40), workers=1)
        try:
            mime = mime_of(os.fsencode(file.name), head)
            return conversions.convert(path=file, name=name, mime=mime, size=size, fingerprint=fingerprint).document
        finally:
            conversions.close()


def looked_into(file: Path) -> tuple[bytes, int, Fingerprint]:
    """First bytes, size in bytes and fingerprint of a file."""
    from ingestd.convert import HEAD_BYTES

    named = display(os.fsencode(file))
    try:
        if not file.is_file():
            raise ConfigurationError(f"{named} is not a file: name one")
        with file.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
            opened.seek(0)
            fingerprint = hashlib.file_digest(opened, "sha256").hexdigest()
            return head, opened.tell(), Fingerprint(fingerprint)
    except OSError as error:
        raise FileUnreadable(f"{named} cannot be read ({error.strerror}): check its permissions") from error
