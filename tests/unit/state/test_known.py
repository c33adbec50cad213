from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestd.model.source import Signature
from ingestd.state import roots, sightings
from ingestd.state.engine import Ledger
from ingestd.state.known import KnownInLedger

NUMBERS = count()
NAMES = st.binary(min_size=1, max_size=3).filter(lambda name: b"/" not in name and b"\0" not in name)
DIRECTORIES = st.lists(NAMES, max_size=2).map(b"/".join)
PATHS = st.tuples(DIRECTORIES, NAMES)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, empty_ledger: bytes) -> Iterator[Ledger]:
    file: Path = tmp_path_factory.mktemp("known") / "ledger.sqlite"
    file.write_bytes(empty_ledger)
    ledger = Ledger(file)
    yield ledger
    ledger.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seen=st.dictionaries(PATHS, st.integers(0, 2**64 - 1), max_size=12),
    lost=st.lists(PATHS, max_size=4),
    elsewhere=st.lists(PATHS, max_size=3),
    data=st.data(),
)
def test_what_is_known_is_what_was_seen_and_not_lost(shared: Ledger, seen, lost, elsewhere, data):
    gone = [*lost, *(data.draw(st.lists(st.sampled_from(sorted(seen)), max_size=3)) if seen else [])]
    model: dict[bytes, dict[bytes, Signature]] = {}
    with shared.write("fill") as transaction:
        name = f"root{next(NUMBERS)}"
        root = roots.record(transaction, name, b"/x", "c", "configured").id
        other = roots.record(transaction, f"{name}-other", b"/y", "c", "configured").id
        for (directory, file), inode in seen.items():
            signature = Signature(size=1, mtime_ns=-5, ctime_ns=7, inode=inode)
            sightings.seen(transaction, root, directory, {file: signature}, 1)
            model.setdefault(directory, {})[file] = signature
        for directory, file in gone:
            sightings.lost(transaction, root, directory, [file], 2)
            model.get(directory, {}).pop(file, None)
        for directory, file in elsewhere:
            sightings.seen(transaction, other, directory, {file: Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 1)
    model = {directory: files for directory, files in model.items() if files}
    with closing(KnownInLedger(shared, root)) as known:
        assert list(known.directories()) == sorted(model)
        assert {directory: dict(known.in_directory(directory)) for directory in model} == model
        # Lost ones too: nobody let their removals happen yet.
        assert known.count() == len(seen)
        assert known.in_directory(b"never/seen") == {}


def test_a_scan_that_reads_along_sees_what_is_stated_meanwhile_and_ends(ledger: Ledger):
    with ledger.write("root") as transaction:
        root = roots.record(transaction, "docs", b"/docs", "c", "configured").id
        for directory in (b"a", b"c", b"e"):
            sightings.seen(transaction, root, directory, {b"f": Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 1)
    found = []
    with closing(KnownInLedger(ledger, root)) as known:
        for directory in known.directories():
            found.append(directory)
            with ledger.write("along") as transaction:
                sightings.lost(transaction, root, directory, [b"f"], 2)
                if directory == b"a":
                    sightings.lost(transaction, root, b"c", [b"f"], 2)
    assert found == [b"a", b"e"]


def test_a_source_without_a_signature_is_known_as_unsettled(ledger: Ledger):
    with ledger.write("root") as transaction:
        root = roots.record(transaction, "docs", b"/docs", "c", "configured").id
        sightings.adopt(transaction, root, b"d/adopted", 1)
    with closing(KnownInLedger(ledger, root)) as known:
        assert dict(known.in_directory(b"d")) == {b"adopted": None}
