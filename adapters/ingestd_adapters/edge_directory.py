"""A generation's directory: our record beside the engine's files.

::

    DIRECTORY/notes.g1/ingestd.json    what the engine has no place for: who made it, vector space, claim
    DIRECTORY/notes.g1/ingestd.lock    held by the process that has the shard open
    DIRECTORY/notes.g1/shard/          the engine's own files
"""

import dataclasses
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestd.errors import ConfigurationError, OutOfSpace, StoreMismatch, StoreUnavailable
from ingestd.failpoints import failpoint
from ingestd.model.point import Claim, Generation
from ingestd_adapters import edge_frames

RECORD = "ingestd.json"
SHARD = "shard"
MADE_BY = "ingestd"
DISTANCE = "cosine"
_LOCK = "ingestd.lock"
_UNFINISHED = ".unfinished-"
_DROPPED = ".dropped-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What our file says of a generation."""

    dimension: int
    distance: str
    embed_digest: str
    claim: Claim | None = None


def home(directory: Path, generation: Generation) -> Path:
    """Directory of a generation.

    Raises
    ------
    ConfigurationError
        When its name cannot be one of a directory of its own.
    """
    name = generation.name
    if "/" in name or "\0" in name or name.startswith("."):
        raise ConfigurationError(f"a collection cannot be called {generation.collection!r}: no slash, no dot in front")
    return directory / name


def made(directory: Path) -> tuple[str, ...]:
    """Names of the generations in the directory that ingestd made, sorted."""
    if not directory.is_dir():
        return ()
    return tuple(
        sorted(entry.name for entry in directory.iterdir() if not _is_aside(entry) and (entry / RECORD).is_file())
    )


def read_record(place: Path) -> Record | None:
    """Record of a generation's directory; ``None`` where there is no such directory.

    Raises
    ------
    StoreMismatch
        When the directory was not made by ingestd, or its record is damaged.
    """
    try:
        value = json.loads((place / RECORD).read_bytes())
        return _record(value)
    except FileNotFoundError:
        if place.exists():
            raise StoreMismatch(f"{place} was not made by ingestd: choose another collection or directory") from None
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreMismatch(
            f"{place / RECORD} is damaged ({error}): restore it, or remove {place} and run `ingestd sync`"
        ) from error
    except OSError as error:
        raise StoreUnavailable(f"{place / RECORD} cannot be read: {error.strerror}") from error


def recorded(directory: Path, generation: Generation) -> Record | None:
    """Record of the generation; ``None`` where the directory does not hold it.

    Raises
    ------
    StoreMismatch
        When it is of another vector space, or as :func:`read_record`.
    """
    place = home(directory, generation)
    record = read_record(place)
    wanted = Record(dimension=generation.dimension, distance=DISTANCE, embed_digest=generation.embed_digest)
    if record is not None and dataclasses.replace(record, claim=None) != wanted:
        raise StoreMismatch(
            f"{place} holds vectors of another space: {_space(record)}, expected {_space(wanted)}; "
            f"`ingestd reindex` builds a new generation"
        )
    return record


def write_record(place: Path, record: Record) -> None:
    """Replace the record durably: written aside, synced, renamed."""
    value = {"made_by": MADE_BY, "schema": 1, **dataclasses.asdict(record)}
    aside = place / f"{RECORD}.new"
    with _disk_errors(place):
        with aside.open("w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        failpoint("store.record_written")
        aside.replace(place / RECORD)
        sync_directory(place)
    failpoint("store.record_renamed")


@contextmanager
def made_aside(directory: Path, generation: Generation) -> Generator[Path]:
    """Directory in which to make a generation; it gets its own name, all of it durable, when the block ends well."""
    place = home(directory, generation)
    aside = directory / f"{_UNFINISHED}{generation.name}"
    with _disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
    failpoint("store.making")
    yield aside
    with _disk_errors(directory):
        _sync_tree(aside)
        failpoint("store.made_aside")
        aside.rename(place)
        sync_directory(directory)
    failpoint("store.made")


def remove(directory: Path, generation: Generation) -> None:
    """Remove a generation's directory: renamed first, so that half of one is never seen."""
    place = home(directory, generation)
    dropped = directory / f"{_DROPPED}{generation.name}"
    with _disk_errors(directory):
        shutil.rmtree(dropped, ignore_errors=True)
        if place.exists():
            place.rename(dropped)
            sync_directory(directory)
            failpoint("store.drop_renamed")
            shutil.rmtree(dropped)
    failpoint("store.dropped")


def locked(place: Path) -> int | None:
    """Descriptor that holds the generation's lock until it is closed; ``None`` while another process holds it."""
    with _disk_errors(place):
        descriptor = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
    return descriptor


def sync_directory(directory: Path) -> None:
    """Make the directory's entries survive a power loss."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_tree(directory: Path) -> None:
    for folder, _, files in os.walk(directory):
        for name in files:
            sync_directory(Path(folder, name))
        sync_directory(Path(folder))


def _record(value: Any) -> Record:
    if value["made_by"] != MADE_BY:
        raise ValueError(f"it says made_by {value['made_by']!r}")
    return Record(
        dimension=int(value["dimension"]),
        distance=str(value["distance"]),
        embed_digest=str(value["embed_digest"]),
        claim=edge_frames.claim_of(value["claim"]),
    )


def _space(record: Record) -> str:
    return f"{record.dimension} dimensions, {record.distance}, embedder {record.embed_digest[:12]}"


def _is_aside(entry: Path) -> bool:
    return entry.name.startswith((_UNFINISHED, _DROPPED))


@contextmanager
def _disk_errors(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        kind = OutOfSpace if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreUnavailable
        raise kind(f"the store's directory {place} cannot be written: {error.strerror}") from error
