"""One process owns a state, and its death frees it whatever children it leaves behind."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ingestd.daemon.lock import StateLock, network_name, present_holder, read_holder, statfs_type
from ingestd.errors import StateLocked, StateUnusable

OWNER = """
import sys, threading
from pathlib import Path
from ingestd.daemon.lock import StateLock
StateLock(Path(sys.argv[1])).acquire(0, threading.Event())
print("owned", flush=True)
sys.stdin.read()
"""

OWNER_WITH_A_CHILD = """
import sys, threading
from pathlib import Path
from ingestd.children import Child
from ingestd.daemon.lock import StateLock
lock = StateLock(Path(sys.argv[1])).acquire(0, threading.Event())
child = Child("survivor", {"alive": sys.argv[2]}, name="survivor", environment={"PYTHONPATH": sys.argv[3]})
print(child.pid, flush=True)
sys.stdin.read()
"""

# Does not call `serve`, so nothing makes it leave with its parent: the worst child there can be.
SURVIVOR = """
import json, sys
with open(json.loads(sys.argv[2])["alive"], "w") as alive:
    alive.write("here")
    alive.flush()
    import signal
    signal.pause()
"""


def owner(script: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 30)
    assert ready, "the owner said nothing"
    return process.stdout.readline().strip()


def end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def test_the_second_owner_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    process = owner(OWNER, tmp_path)
    try:
        assert first_line(process) == "owned"
        with pytest.raises(StateLocked, match=rf"process {process.pid} \(since 20.*--state-dir"):
            StateLock(tmp_path).acquire(0, threading.Event())
    finally:
        end(process)


def test_a_killed_owner_frees_the_lock_at_once(tmp_path: Path) -> None:
    process = owner(OWNER, tmp_path)
    first_line(process)
    end(process)
    with StateLock(tmp_path).acquire(0, threading.Event()) as lock:
        assert lock.held
        holder = read_holder(tmp_path)
        assert holder is not None
        assert holder.pid == os.getpid()


def test_a_child_that_outlives_its_killed_parent_does_not_hold_the_lock(tmp_path: Path) -> None:
    (tmp_path / "survivor.py").write_text(SURVIVOR)
    alive, state = tmp_path / "alive", tmp_path / "state"
    os.mkfifo(alive)
    process = owner(OWNER_WITH_A_CHILD, state, alive, tmp_path)
    child = int(first_line(process))
    try:
        with alive.open(encoding="ascii") as said:
            assert said.read(4) == "here"
            process.send_signal(signal.SIGKILL)
            process.communicate()
            os.kill(child, 0)
            with StateLock(state).acquire(0, threading.Event()) as lock:
                assert lock.held
            os.kill(child, signal.SIGKILL)
            assert said.read() == ""  # end-of-file: it was alive until now
    finally:
        end(process)


def test_waiting_ends_when_the_holder_leaves(tmp_path: Path) -> None:
    first = StateLock(tmp_path).acquire(0, threading.Event())
    trying = threading.Event()

    class Watched(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            trying.set()
            return super().wait(timeout)

    second = StateLock(tmp_path)
    waiter = threading.Thread(target=second.acquire, args=(30, Watched()))
    waiter.start()
    assert trying.wait(30)
    first.release()
    waiter.join(30)
    assert second.held
    second.release()


def test_a_stop_ends_the_waiting(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with StateLock(tmp_path).acquire(0, stop), pytest.raises(StateLocked, match="interrupted"):
        StateLock(tmp_path).acquire(600, stop)


def test_acquiring_twice_and_releasing_twice_change_nothing(tmp_path: Path) -> None:
    lock = StateLock(tmp_path).acquire(0, threading.Event())
    assert lock.acquire(0, threading.Event()) is lock
    lock.release()
    lock.release()
    assert read_holder(tmp_path) is None
    with StateLock(tmp_path).acquire(0, threading.Event()) as other:
        assert other.held


def test_a_lock_file_made_anew_after_someone_removed_it_has_one_owner(tmp_path: Path) -> None:
    with StateLock(tmp_path).acquire(0, threading.Event()) as lock:
        (tmp_path / "lock").unlink()
        with StateLock(tmp_path).acquire(0, threading.Event()) as other:
            assert other.held
            assert lock.held
            with pytest.raises(StateLocked):
                StateLock(tmp_path).acquire(0, threading.Event())


def test_the_state_directory_is_made_private(tmp_path: Path) -> None:
    with StateLock(tmp_path / "a" / "state").acquire(0, threading.Event()):
        assert (tmp_path / "a" / "state").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "a" / "state" / "lock").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("number", "name"), [(0x6969, "NFS"), (0xFF534D42 - (1 << 32), "CIFS"), (0xFE534D42, "SMB2"), (0x517B, "SMB")]
)
def test_a_state_on_a_network_file_system_is_refused(tmp_path: Path, number: int, name: str) -> None:
    lock = StateLock(tmp_path, filesystem_type=lambda _path: number)
    with pytest.raises(StateUnusable, match=rf"is on {name}, .*--state-dir"):
        lock.acquire(0, threading.Event())
    assert not lock.path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="statfs(2) numbers are Linux's")
def test_the_kernel_names_the_file_system() -> None:
    assert statfs_type(Path("/proc")) == 0x9FA0
    assert statfs_type(Path("/proc/none/such")) == 0
    assert network_name(0x9FA0) is None


def test_a_state_that_is_a_file_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(StateUnusable, match="cannot be used"):
        StateLock(tmp_path / "state").acquire(0, threading.Event())


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateUnusable):
        StateLock(tmp_path).acquire(0, threading.Event())
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("content", [b"", b"pid x\n", b"\xff\xfe", b"nothing"])
def test_a_lock_file_that_says_nothing_names_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    assert read_holder(tmp_path) is None


def test_only_a_living_owner_is_the_present_one(tmp_path: Path) -> None:
    assert present_holder(tmp_path) is None
    process = owner(OWNER, tmp_path)
    try:
        assert first_line(process) == "owned"
        holder = present_holder(tmp_path)
        assert holder is not None
        assert holder.pid == process.pid
    finally:
        process.kill()
        end(process)
    assert read_holder(tmp_path) is not None, "what a killed owner wrote stays in the file"
    assert present_holder(tmp_path) is None
    with StateLock(tmp_path) as lock:
        lock.acquire(0, threading.Event())
