"""Signals stop, reload or end a real process."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestd.daemon.signals import Signals, Stop, kill_groups

WAITING = """
import sys
from ingestd.daemon.signals import Signals
with Signals() as signals:
    print("up", flush=True)
    while not signals.stop.wait(600):
        pass
print(signals.stop.reason, signals.stop.signal_number, flush=True)
"""

# Never looks at the stop: a thread of it is in native code, which no Python handler interrupts.
STUCK = """
import hashlib, subprocess, sys
from ingestd.daemon.signals import Signals, kill_groups
child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL)
def kill():
    kill_groups([child.pid])
    HANG
with Signals(kill_children=kill, wake=lambda: print("stopping", flush=True)) as signals:
    print(child.pid, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


def started(script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 30)
    assert ready, "the process said nothing"
    return process.stdout.readline().strip()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.005)


def gone(pid: int) -> bool:
    """Whether the process is dead: a zombie that nobody reaps counts."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_waiting_with_its_reason(number: signal.Signals) -> None:
    process = started(WAITING)
    assert line(process) == "up"
    process.send_signal(number)
    assert line(process) == f"{number.name} received {number.value}"
    assert process.wait(30) == 0
    process.communicate()


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("hang", ["pass", "import threading; threading.Event().wait()", "raise SystemExit"])
def test_a_second_signal_kills_the_children_and_ends_at_once(second: signal.Signals, hang: str) -> None:
    process = started(STUCK.replace("HANG", hang))
    child = int(line(process))
    try:
        process.send_signal(signal.SIGTERM)
        assert line(process) == "stopping"
        assert process.poll() is None
        process.send_signal(second)
        assert process.wait(30) == 128 + second
        until(lambda: gone(child))
    finally:
        process.kill()
        process.communicate()
        kill_groups([child])


def test_a_hang_up_sets_the_reload_and_nothing_else() -> None:
    woken = threading.Event()
    with Signals(wake=woken.set) as signals:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.reload.wait(30)
            assert woken.wait(30)
            signals.reload.clear()
            woken.clear()
        assert not signals.stop.is_set()


def test_the_statuses_of_a_second_signal_are_those_of_a_shell() -> None:
    left: list[int] = []
    done = threading.Semaphore(0)

    def leave(status: int) -> None:
        left.append(status)
        done.release()

    with Signals(leave=leave) as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.stop.wait(30)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
            assert done.acquire(timeout=30)
        assert signals.stop.signal_number == signal.SIGTERM
    assert left == [130, 143]


def test_a_signal_after_a_stop_for_another_reason_is_the_first_signal() -> None:
    left: list[int] = []
    woken = threading.Event()
    with Signals(leave=left.append, wake=woken.set) as signals:
        signals.stop.request("nothing is pending")
        os.kill(os.getpid(), signal.SIGINT)
        assert woken.wait(30)
        assert signals.stop.signal_number == signal.SIGINT
        assert signals.stop.reason == "nothing is pending"
    assert left == []


def test_the_former_handlers_are_put_back() -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with Signals():
        assert all(signal.getsignal(number) not in before for number in numbers)
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1
    assert not any(thread.name == "ingestd-signals" for thread in threading.enumerate())


def test_a_stop_keeps_its_first_reason() -> None:
    stop = Stop()
    assert not stop.wait(0)
    assert stop.reason == ""
    stop.request("the store is gone")
    stop.request("something else")
    assert stop.wait(0)
    assert stop.reason == "the store is gone"
    assert stop.signal_number is None


def test_a_group_that_is_gone_does_not_keep_the_others_alive() -> None:
    groups = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(2)]
    groups[0].kill()
    groups[0].wait()
    kill_groups([group.pid for group in groups])
    assert groups[1].wait(30) == -signal.SIGKILL
