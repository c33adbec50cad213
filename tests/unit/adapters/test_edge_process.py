import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ingestd import failpoints
from ingestd.errors import ConfigurationError, OutOfSpace, StoreUnavailable
from ingestd.model.identity import Instance
from ingestd.model.point import SearchFilter
from ingestd.testing.store import DIMENSION, GENERATION, made_points, point_ids, unit
from ingestd_adapters import edge_store
from ingestd_adapters.edge_shard import EdgeShards
from ingestd_adapters.edge_store import EdgeStore, edge
from ingestd_adapters.edge_turns import Turns

OURS = Instance("ours")
DEADLINE_SECONDS = 60.0


@pytest.fixture
def store(tmp_path):
    opened = opened_at(tmp_path)
    yield opened
    with contextlib.suppress(StoreUnavailable):
        opened.close()


def opened_at(place: Path, **options: object) -> EdgeStore:
    opened = edge(OURS, {"directory": str(place / "store"), **options})
    assert isinstance(opened, EdgeStore)
    return opened


def killed(store: EdgeStore, by: signal.Signals = signal.SIGKILL) -> None:
    pid = store.pid
    assert pid is not None
    os.kill(pid, by)


def write(store: EdgeStore, version: int = 1, count: int = 3) -> None:
    store.upsert(GENERATION, [made_points(version, point_ids(count), unit(*(n % DIMENSION for n in range(count))))])


def eventually(holds) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    look = threading.Event()
    while not holds():
        assert time.monotonic() < deadline, "not within the deadline"
        look.wait(0.02)


def gone(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status in "ZX"


def test_no_process_is_started_before_the_first_call(store):
    assert store.pid is None


def test_what_was_flushed_survives_the_kill_of_the_process(store):
    store.prepare(GENERATION)
    write(store)
    store.flush(GENERATION)
    killed(store)
    with contextlib.suppress(StoreUnavailable):  # where it dies in the middle of the call
        store.count(GENERATION)
    assert store.count(GENERATION) == 3
    store.flush(GENERATION)


def test_a_process_that_died_idle_is_replaced_without_a_word_to_whoever_asks(store):
    store.prepare(GENERATION)
    write(store)
    store.flush(GENERATION)
    for ask in (lambda: store.count(GENERATION), lambda: store.flush(GENERATION), store.close):
        pid = store.pid
        killed(store)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # all of its threads have ended
        ask()


def test_a_flush_does_not_speak_for_writes_that_a_dead_process_took(store):
    store.prepare(GENERATION)
    write(store)
    killed(store)
    with pytest.raises(StoreUnavailable):
        store.count(GENERATION)
    with pytest.raises(StoreUnavailable, match="are to be repeated"):
        store.flush(GENERATION)
    write(store)
    store.flush(GENERATION)
    assert store.count(GENERATION) == 3


@pytest.mark.parametrize("name", ["store.upserted", "store.flush"])
def test_a_call_during_which_the_process_dies_may_be_repeated(store, monkeypatch, name):
    store.prepare(GENERATION)
    store.close()
    with monkeypatch.context() as armed:
        armed.setenv(failpoints.VARIABLE, f"{name}:1")
        again = EdgeStore(OURS, store._options)
        with pytest.raises(StoreUnavailable):
            write_and_flush(again)
    with contextlib.suppress(StoreUnavailable):
        again.flush(GENERATION)
    write_and_flush(again)
    assert [point.payload["doc_version"] for point in again.scroll(GENERATION, ("doc_version",))] == [1, 1, 1]
    again.close()


def write_and_flush(store: EdgeStore) -> None:
    write(store)
    store.flush(GENERATION)


@pytest.mark.parametrize("name", ["store.record_renamed", "store.made_aside", "store.made"])
def test_a_collection_is_whole_or_not_there_when_making_it_is_cut_short(tmp_path, monkeypatch, name):
    with monkeypatch.context() as armed:
        armed.setenv(failpoints.VARIABLE, f"{name}:1")
        store = opened_at(tmp_path)
        with pytest.raises(StoreUnavailable):
            store.prepare(GENERATION)
    assert store.generations() == ((GENERATION.name,) if name == "store.made" else ())
    assert store.prepare(GENERATION) == (name != "store.made")
    write_and_flush(store)
    assert store.count(GENERATION) == 3
    store.close()


def test_a_process_that_a_full_disk_killed_is_a_full_disk(store, tmp_path):
    store.prepare(GENERATION)
    write(store)
    killed(store, signal.SIGBUS)
    with pytest.raises(OutOfSpace, match=f"the disk of {tmp_path}"):
        store.count(GENERATION)
    assert store.count(GENERATION) <= 3


def test_what_exists_and_who_claims_it_is_told_without_a_process(store):
    assert store.generations() == ()
    assert store.claim(GENERATION) is None
    assert store.pid is None


def test_a_call_over_its_deadline_ends_the_process(tmp_path):
    store = opened_at(tmp_path, timeout_seconds=0.001)
    with pytest.raises(StoreUnavailable, match="over its deadline"):
        store.prepare(GENERATION)
    assert store.pid is None
    store.close()


def test_a_closed_store_says_so_and_keeps_what_was_written(tmp_path):
    store = opened_at(tmp_path)
    store.prepare(GENERATION)
    write(store)
    pid = store.pid
    store.close()
    store.close()
    assert gone(pid)
    with pytest.raises(StoreUnavailable, match="was closed"):
        store.count(GENERATION)
    look = edge(OURS, {"directory": str(tmp_path / "store"), "in_process": True})
    assert look.count(GENERATION) == 3
    look.close()


def test_an_owner_elsewhere_is_named_with_the_directory(store, tmp_path):
    store.prepare(GENERATION)
    store.count(GENERATION)
    second = edge(OURS, {"directory": str(tmp_path / "store"), "in_process": True, "lock_wait_seconds": 0})
    assert second.generations() == (GENERATION.name,)
    assert second.claim(GENERATION) is None
    with pytest.raises(StoreUnavailable, match=f"another process has the store in {tmp_path}"):
        second.count(GENERATION)
    second.close()


def test_an_error_of_the_process_comes_through_whole(tmp_path):
    store = opened_at(tmp_path, min_free_bytes=2**60)
    with pytest.raises(OutOfSpace, match="MiB left"):
        store.prepare(GENERATION)
    store.close()


def test_calls_from_several_threads_do_not_mix(store):
    store.prepare(GENERATION)
    write(store, count=DIMENSION)
    wrong: list[object] = []

    def look(axis: int) -> None:
        for _ in range(20):
            hits = store.search(GENERATION, unit(axis)[0], 1, SearchFilter())
            wrong.extend(hit for hit in hits if hit.id != point_ids(DIMENSION)[axis])

    threads = [threading.Thread(target=look, args=(axis,)) for axis in range(4)]
    for thread in threads:
        thread.start()
    write(store, version=2, count=DIMENSION)
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert wrong == []


def test_a_search_goes_before_the_writes_that_wait():
    turns, order = Turns(), []
    first_has_it, go = threading.Event(), threading.Event()

    def first() -> None:
        with turns.turn():
            first_has_it.set()
            go.wait(DEADLINE_SECONDS)

    def later(name: str, urgent: bool) -> None:
        with turns.turn(urgent=urgent):
            order.append(name)

    threads = [threading.Thread(target=first)]
    threads[0].start()
    first_has_it.wait(DEADLINE_SECONDS)
    for name, urgent in (("write", False), ("another write", False), ("search", True)):
        threads.append(threading.Thread(target=later, args=(name, urgent)))
        threads[-1].start()
        eventually(lambda: len(turns._changed._waiters) == len(threads) - 1)
    go.set()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert order[0] == "search"


OWNER = """
import sys
from ingestd.testing.store import GENERATION, made_points, point_ids, unit
from ingestd_adapters.edge_store import edge
store = edge("ours", {"directory": sys.argv[1]})
store.prepare(GENERATION)
store.upsert(GENERATION, [made_points(1, point_ids(3), unit(0, 1, 2))])
store.flush(GENERATION)
print(store.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_killed_owner_leaves_no_process_that_holds_the_files(tmp_path):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "store")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        pid = int(owner.stdout.readline())
        assert not gone(pid)
        owner.kill()
    # The next owner waits for the lock by itself; the process is gone at the latest when it has it.
    with contextlib.closing(opened_at(tmp_path, lock_wait_seconds=DEADLINE_SECONDS)) as next_owner:
        assert next_owner.count(GENERATION) == 3
        eventually(lambda: gone(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_the_process_outlives_the_thread_that_started_it(store):
    thread = threading.Thread(target=store.prepare, args=(GENERATION,))
    thread.start()
    thread.join(DEADLINE_SECONDS)
    pid = store.pid
    write_and_flush(store)
    assert store.pid == pid


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ({"directory": "x", "min_free_byte": 1}, "did you mean min_free_bytes"),
        ({"directory": "x", "url": "y"}, "url is unknown"),
        ({"directory": "x", "in_process": 1}, "in_process = 1 is not of type bool"),
        ({"directory": "x", "timeout_seconds": -1}, "timeout_seconds"),
        ({"directory": ""}, "directory"),
        ({}, "directory"),
    ],
)
def test_wrong_options_are_named(options, finding):
    with pytest.raises(ConfigurationError, match=finding):
        edge(OURS, options)


def test_on_a_disk_without_room_the_engine_is_not_loaded_into_the_callers_process(tmp_path, monkeypatch):
    options = {"directory": str(tmp_path), "in_process": True}
    assert isinstance(edge(Instance("one"), options), EdgeShards)
    monkeypatch.setattr(edge_store, "MIN_FREE_BYTES", 2**62)
    assert isinstance(edge(Instance("one"), options), EdgeStore)
