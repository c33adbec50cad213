"""Compares what is known of a directory with what is seen there."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ingestd.model.source import Signature


def _nothing() -> Mapping[bytes, Signature]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed among the files of one directory, by name."""

    added: Mapping[bytes, Signature] = field(default_factory=_nothing)
    changed: Mapping[bytes, Signature] = field(default_factory=_nothing)
    """Signatures as seen now."""
    removed: Mapping[bytes, Signature | None] = field(default_factory=_nothing)
    """Signatures as they were known."""
    unchanged: int = 0


def difference(
    known: Mapping[bytes, Signature | None], seen: Mapping[bytes, Signature], *, ignore_inode: bool = False
) -> Difference:
    """Compare one directory's known files with those seen.

    Parameters
    ----------
    known
        File name → signature; ``None`` was seen but never settled, so it always counts as changed.
    seen
        File name → signature as it is now.
    ignore_inode
        For mounts that give the same file another inode after each mount.
    """
    added: dict[bytes, Signature] = {}
    changed: dict[bytes, Signature] = {}
    for name, signature in seen.items():
        before = known.get(name)
        if before is signature:
            continue
        if name not in known:
            added[name] = signature
        elif not same(before, signature, ignore_inode=ignore_inode):
            changed[name] = signature
    removed: dict[bytes, Signature | None] = {}
    if not known.keys() <= seen.keys():
        removed = {name: signature for name, signature in known.items() if name not in seen}
    unchanged = len(seen) - len(added) - len(changed)
    return Difference(added=added, changed=changed, removed=removed, unchanged=unchanged)


def same(known: Signature | None, seen: Signature, *, ignore_inode: bool = False) -> bool:
    """Whether a file with this signature is taken for unchanged."""
    if known is None:
        return False
    if not ignore_inode:
        return known == seen
    return (known.size, known.mtime_ns, known.ctime_ns) == (seen.size, seen.mtime_ns, seen.ctime_ns)


def moves(
    removed: Mapping[bytes, Signature | None], added: Mapping[bytes, Signature]
) -> tuple[tuple[bytes, bytes], ...]:
    """Pairs ``(old path, new path)`` of files that only changed their path, sorted.

    A pair has the same inode, size and modification time, and is the only one that has them: where hard links or a
    restored backup leave a choice, there is no move. Both mappings are by path below one root, on one device.
    """
    gone = {path: _identity(signature) for path, signature in removed.items() if signature is not None}
    come = {path: _identity(signature) for path, signature in added.items()}
    gone_count, come_count = Counter(gone.values()), Counter(come.values())
    new_path = {identity: path for path, identity in come.items() if come_count[identity] == 1}
    return tuple(
        (path, new_path[identity])
        for path, identity in sorted(gone.items())
        if gone_count[identity] == 1 and identity in new_path
    )


def _identity(signature: Signature) -> tuple[int, int, int]:
    return signature.inode, signature.size, signature.mtime_ns
