"""One file below a root, as the file system shows it."""

import os
from dataclasses import dataclass

from ingestd.model.identity import RootName


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The cheap test whether a file may have changed."""

    size: int
    """Bytes."""
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, stat: os.stat_result) -> "Signature":
        """Signature from the result of a stat.

        Times after the year 2262 are taken for its end: the ledger keeps 64 bits, and a changed file differs in the
        others.
        """
        return cls(
            size=stat.st_size,
            mtime_ns=_in_64_bits(stat.st_mtime_ns),
            ctime_ns=_in_64_bits(stat.st_ctime_ns),
            inode=stat.st_ino,
        )


@dataclass(frozen=True, slots=True, order=True)
class SourceKey:
    """A source's name: its root and its path below it."""

    root: RootName
    path: bytes
    """Relative to the root, as the file system gave it, parts joined by ``/``."""


def display(path: bytes) -> str:
    """Path as text for people: undecodable bytes and control characters as backslash escapes."""
    return printable(path.decode("utf-8", "backslashreplace"))


def printable(text: str) -> str:
    """Text for a terminal or a log: control characters, marks of direction and lone surrogates as backslash escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _in_64_bits(time_ns: int) -> int:
    return max(-(2**63), min(time_ns, 2**63 - 1))
