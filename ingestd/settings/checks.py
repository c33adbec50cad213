"""What types alone cannot tell of a configuration: folders, names, collections, sizes that contradict each other."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from ingestd.settings.findings import Finding
from ingestd.settings.rescan import rescan_from
from ingestd.settings.tables import ChunkerSettings, RootSettings, Settings

TOML_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
LEAST_MAX_SIZE = {"tokens": 16, "chars": 64}
"""Room for a heading line and a few words."""
SEED_LACKS = {
    "structure-first": ("target_size", "max_size says where its chunks end"),
    "grain-growth": ("min_size", "target_size says when its chunks are full"),
}
"""The size that the published package of a chunker, which the profile ``compat`` reproduces, does not know."""
Numbered = tuple[int, RootSettings]


def findings(
    settings: Settings, indices: tuple[int, ...], *, absent_folders: Literal["refused", "allowed"]
) -> Iterator[Finding]:
    """Contradictions in the settings.

    Parameters
    ----------
    settings
        With absolute paths.
    indices
        Index in the file of each root of the settings.
    absent_folders
        Whether a root's folder has to be there now.
    """
    roots = list(zip(indices, settings.roots, strict=True))
    yield from _store(settings)
    yield from _model(settings)
    yield from _rescan(settings)
    yield from _sizes(settings.chunker, ("chunker",))
    yield from _segmenter(settings.chunker, ("chunker",))
    for index, root in roots:
        if root.chunker != settings.chunker:
            yield from _sizes(root.chunker, ("root", index, "chunker"))
            if root.chunker.segmenter_model_dir != settings.chunker.segmenter_model_dir:
                yield from _segmenter(root.chunker, ("root", index, "chunker"))
        yield from _folder(index, root, absent_folders=absent_folders)
    for first, second in itertools.combinations(roots, 2):
        yield from _pair(first, second)


def state_below_a_root(settings: Settings, state: Path) -> Iterator[Finding]:
    """Roots that hold the state directory: the daemon would take in its own files.

    Not below a hidden folder, such as ``~/.local/state`` in a home that is a root: what is hidden is left out.
    """
    for index, root in enumerate(settings.roots):
        if _contains(root.path, state) and not _is_hidden(root.path, state):
            yield Finding(
                path=("root", index, "path"),
                message=f"{root.path} holds the state directory {state}: name another with --state-dir",
            )


def _store(settings: Settings) -> Iterator[Finding]:
    store = settings.store
    if store.kind == "server" and not store.url:
        yield Finding(path=("store", "kind"), message="a server needs a url: add url = 'http://localhost:6333'")
    if store.kind == "edge" and store.url:
        yield Finding(
            path=("store", "url"), message='the embedded store has no url: set kind = "server", or take it out'
        )
    if store.url and not re.match(r"https?://[^/\s]+", store.url):
        yield Finding(path=("store", "url"), message=f"{store.url!r} is no address: expected http://HOST:PORT")
    if store.api_key_file and not store.api_key_file.is_file():
        yield Finding(
            path=("store", "api_key_file"),
            message=f"{store.api_key_file} is not a file: write the server's API key into it",
        )


def _model(settings: Settings) -> Iterator[Finding]:
    folder = settings.embedder.model_dir
    if folder and not folder.is_dir():
        yield Finding(path=("embedder", "model_dir"), message=f"{folder} is not a folder: put the model's files there")


def _segmenter(chunker: ChunkerSettings, path: tuple[str | int, ...]) -> Iterator[Finding]:
    folder = chunker.segmenter_model_dir
    if folder and not folder.is_dir():
        yield Finding(
            path=(*path, "segmenter_model_dir"), message=f"{folder} is not a folder: put the model's files there"
        )


def _rescan(settings: Settings) -> Iterator[Finding]:
    try:
        rescan_from(settings.daemon.rescan)
    except ValueError as error:
        yield Finding(path=("daemon", "rescan"), message=str(error))


def _sizes(chunker: ChunkerSettings, path: tuple[str | int, ...]) -> Iterator[Finding]:
    if chunker.profile == "compat":
        yield from _seed_sizes(chunker, path)
        return
    unit = chunker.unit or "tokens"
    least = LEAST_MAX_SIZE[unit]
    if chunker.max_size is not None and chunker.max_size < least:
        yield Finding(
            path=(*path, "max_size"),
            message=f"{chunker.max_size} {unit} leave no room for a heading and a few words: expected at least {least}",
        )
    ascending = ("min_size", "target_size", "max_size")
    for low, high in itertools.combinations(ascending, 2):
        small, large = getattr(chunker, low), getattr(chunker, high)
        if small is not None and large is not None and small > large:
            yield Finding(path=(*path, low), message=f"{small} is more than {high} ({large}): lower it")


def _seed_sizes(chunker: ChunkerSettings, path: tuple[str | int, ...]) -> Iterator[Finding]:
    if chunker.unit == "tokens":
        yield Finding(
            path=(*path, "unit"),
            message='the profile "compat" counts characters, as the published packages do: set unit = "chars" and the '
            'sizes in characters, or profile = "native"',
        )
    lacks, instead = SEED_LACKS[chunker.name]
    if getattr(chunker, lacks) is not None:
        yield Finding(
            path=(*path, lacks),
            message=f'{chunker.name} in the profile "compat" has no {lacks}, {instead}: take it out (from [chunker] too, '
            "where a root inherits it)",
        )


def _folder(index: int, root: RootSettings, *, absent_folders: Literal["refused", "allowed"]) -> Iterator[Finding]:
    if root.path.is_dir() or (absent_folders == "allowed" and not root.path.exists()):
        return
    what = "is not a folder" if root.path.exists() else "does not exist"
    yield Finding(
        path=("root", index, "path"),
        message=f"{root.path} {what}: make it, mount it, or correct the path of root {root.name!r}",
    )


def _pair(first: Numbered, second: Numbered) -> Iterator[Finding]:
    (_, one), (index, other) = first, second
    if one.name == other.name:
        yield Finding(path=("root", index, "name"), message=f"{other.name!r} names another root already: rename one")
    if _contains(one.path, other.path) or _contains(other.path, one.path):
        yield Finding(
            path=("root", index, "path"),
            message=f"{other.path} overlaps {one.path} (root {one.name!r}): a file belongs to one root, "
            "so take one out, or point it elsewhere",
        )
    if one.collection == other.collection and one.embedder != other.embedder:
        yield Finding(
            path=("root", index, "collection"),
            message=f"{other.collection!r} holds vectors of {one.embedder.name!r} (root {one.name!r}), and "
            f"{other.name!r} has embedder {other.embedder.name!r}: give it a collection of its own",
        )


def _contains(outer: Path, inner: Path) -> bool:
    """Whether both are one folder, or the second lies in the first, links followed."""
    outer_real, inner_real = os.fsencode(os.path.realpath(outer)), os.fsencode(os.path.realpath(inner))
    return (inner_real + b"/").startswith(outer_real.rstrip(b"/") + b"/")


def _is_hidden(outer: Path, inner: Path) -> bool:
    outer_real, inner_real = os.path.realpath(outer), os.path.realpath(inner)
    return any(part.startswith(".") for part in os.path.relpath(inner_real, outer_real).split("/") if part != ".")
