import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ingestd.discover.listing import DirectoryScan
from ingestd.discover.scan import ScanRoot, scan
from ingestd.model.source import Signature


class DictLedger:
    """Known sources in a dictionary of directories."""

    def __init__(self) -> None:
        self.files: dict[bytes, dict[bytes, Signature | None]] = {}

    def in_directory(self, directory: bytes) -> Mapping[bytes, Signature | None]:
        return dict(self.files.get(directory, {}))

    def directories(self) -> Iterator[bytes]:
        return iter(sorted(directory for directory, names in self.files.items() if names))

    def count(self) -> int:
        return sum(len(names) for names in self.files.values())

    def apply(self, found: DirectoryScan) -> None:
        names = self.files.setdefault(found.directory, {})
        names.update(found.difference.added)
        names.update(found.difference.changed)
        for name in found.difference.removed:
            del names[name]

    def paths(self) -> set[bytes]:
        return {d + b"/" + name if d else name for d, names in self.files.items() for name in names}


class Site:
    """A root on the disk with a ledger of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.root = os.fsencode(folder)
        self.ledger = DictLedger()

    def write(self, path: str | bytes, content: bytes = b"x") -> Path:
        target = Path(os.fsdecode(self.root + b"/" + os.fsencode(path)))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return target

    def look(self, *directories: bytes, deep: bool = True, **options: object) -> dict[bytes, DirectoryScan]:
        """Scan, without telling the ledger."""
        root = ScanRoot(path=self.root, **options)  # type: ignore[arg-type]
        found = scan(root, self.ledger, directories=directories or None, deep=deep)
        return {value.directory: value for value in found}

    def learn(self, *directories: bytes, deep: bool = True, **options: object) -> dict[bytes, DirectoryScan]:
        found = self.look(*directories, deep=deep, **options)
        for value in found.values():
            self.ledger.apply(value)
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "root")


@pytest.fixture
def open_site() -> Iterator[Site]:
    """A root that every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Site(Path(folder) / "root")


@pytest.fixture
def unprivileged() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Permissions count inside, even where the tests run as root."""

    @contextlib.contextmanager
    def without_privileges() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return without_privileges
