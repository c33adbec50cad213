"""Looks at a pending source once more before it is worked on."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from ingestd.beneath import open_beneath
from ingestd.discover.settle import Settling
from ingestd.model.source import Signature
from ingestd.pipeline.parts import Clock, RootPlan
from ingestd.state.sources import SourceRow

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Still:
    """The file is as the ledger says, and has been left alone long enough."""


@dataclass(frozen=True, slots=True)
class Newer:
    """The file has been left alone long enough, and is another than the ledger says."""

    signature: Signature


@dataclass(frozen=True, slots=True)
class Moving:
    """The file has to be left alone for a while first."""

    signature: Signature


@dataclass(frozen=True, slots=True)
class Absent:
    """The path leads to nothing: whether the file is gone, or all of its disk, a scan tells."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The file cannot be looked at; whether it is there is not known."""

    error: OSError


Look = Still | Newer | Moving | Absent | Unreachable


def look(plan: RootPlan, source: SourceRow, settling: Settling[int], clock: Clock) -> Look:
    """Compare the file with the ledger.

    A file whose last write (its change time, which no program can set back) is ``settle_seconds`` old is still at the
    first look; any other needs two equal ones, that far apart.
    """
    try:
        signature = Signature.of(_status(plan, source.path))
    except (FileNotFoundError, NotADirectoryError):
        settling.forget(source.id)
        return Absent()
    except OSError as error:
        settling.forget(source.id)
        return Unreachable(error)
    wall_ns = clock.wall_ns()
    if signature == source.signature and _is_old(signature, wall_ns, settling.settle_seconds):
        settling.forget(source.id)
        return Still()
    if not settling.look(source.id, signature, clock.monotonic(), wall_ns):
        return Moving(signature)
    return Still() if signature == source.signature else Newer(signature)


def _status(plan: RootPlan, path: bytes) -> os.stat_result:
    try:
        full = plan.row.path.rstrip(b"/") + b"/" + path
        return os.stat(full, follow_symlinks=plan.follow_links)  # noqa: PTH116  a path in bytes
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    # The kernel takes 4096 bytes at once; folders within folders have no such limit.
    directory, _, name = path.rpartition(b"/")
    folder = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with (
        _opened(os.open(plan.row.path, folder)) as root,
        _opened(open_beneath(root, directory, folder)) as parent,
    ):
        return os.stat(name, dir_fd=parent, follow_symlinks=False)


@contextmanager
def _opened(descriptor: int) -> Generator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_old(signature: Signature, wall_ns: int, settle_seconds: float) -> bool:
    return wall_ns - max(signature.mtime_ns, signature.ctime_ns) >= settle_seconds * _NANOSECONDS
