"""Commands reach the owner of a state, and only they."""

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingestd import errors
from ingestd.children import receive_frame, send_frame
from ingestd.daemon.control import CONNECTIONS, ControlServer, OwnerAbsent, ask, socket_path
from ingestd.daemon.rendezvous import bound, check_private, connected, make_private

Values = dict[str, Any]


def echo(command: str, arguments: Values) -> Values:
    return {"command": command, **arguments}


@contextlib.contextmanager
def serving(path: Path, answer: Callable[[str, Values], Any] = echo) -> Iterator[ControlServer]:
    server = ControlServer(path, answer)
    try:
        yield server
    finally:
        server.close()
    assert not any(thread.name.startswith("ingestd-control") for thread in threading.enumerate())


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.005)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return socket_path(tmp_path)


def test_a_command_comes_back_answered(path: Path) -> None:
    with serving(path):
        assert ask(path, "retry", {"paths": ["a\udcff", "ü"]}, timeout_seconds=30) == {
            "command": "retry",
            "paths": ["a\udcff", "ü"],
        }


def test_progress_comes_before_the_reply(path: Path) -> None:
    def counting(_command: str, _arguments: Values) -> Generator[Values, None, Values]:
        yield {"done": 1}
        yield {"done": 2}
        return {"seen": 2}

    seen: list[Values] = []
    with serving(path, counting):
        assert ask(path, "sync", {}, timeout_seconds=30, progress=seen.append) == {"seen": 2}
        assert ask(path, "sync", {}, timeout_seconds=None) == {"seen": 2}
    assert seen == [{"done": 1}, {"done": 2}]


def test_an_answer_is_told_that_its_client_left(path: Path) -> None:
    begun, closed, left = threading.Event(), threading.Event(), threading.Event()

    def endless(_command: str, _arguments: Values) -> Generator[Values, None, Values]:
        try:
            while True:
                begun.set()
                yield {"text": "x" * 10_000}
        finally:
            closed.set()

    with serving(path, endless):
        with connected(path, 30) as channel:
            send_frame(channel, {"protocol": 1, "command": "sync", "arguments": {}})
            assert begun.wait(30)
        left.set()
        assert closed.wait(30)


@pytest.mark.parametrize(
    "error",
    [
        errors.StoreUnavailable("the store is down", delay_seconds=2.5),
        errors.ConfigurationError("no root is called x"),
        errors.StateUnusable("the ledger is newer"),
    ],
)
def test_an_error_of_the_tree_travels_as_itself(path: Path, error: errors.IngestdError) -> None:
    def failing(_command: str, _arguments: Values) -> Values:
        raise error

    with serving(path, failing), pytest.raises(type(error)) as caught:
        ask(path, "sync", {}, timeout_seconds=30)
    assert str(caught.value) == str(error)
    assert getattr(caught.value, "delay_seconds", None) == getattr(error, "delay_seconds", None)


@pytest.mark.parametrize("reply", [object(), {"unserialisable": object()}, None])
def test_a_bug_becomes_a_generic_error_and_the_server_goes_on(
    path: Path, reply: object, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(command: str, _arguments: Values) -> Any:
        if command == "bug":
            return reply
        if command == "crash":
            raise OSError("a secret path")
        return {"fine": True}

    with serving(path, broken):
        for command in ("bug", "crash"):
            with pytest.raises(errors.IngestdError, match=f"failed on '{command}' with ") as caught:
                ask(path, command, {}, timeout_seconds=30)
            assert type(caught.value) is errors.IngestdError
            assert "secret" not in str(caught.value)
        assert ask(path, "status", {}, timeout_seconds=30) == {"fine": True}
    assert "a secret path" in caplog.text


def test_nobody_there_is_the_owner_absent(path: Path) -> None:
    with pytest.raises(OwnerAbsent) as caught:
        ask(path, "status", {}, timeout_seconds=30)
    assert not caught.value.asked


def test_the_socket_of_a_killed_owner_is_nobody_and_is_replaced(path: Path) -> None:
    script = (
        "import sys, os, signal; from pathlib import Path; from ingestd.daemon.control import ControlServer\n"
        "ControlServer(Path(sys.argv[1]), lambda c, a: a); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=60)
    assert path.is_socket()
    with pytest.raises(OwnerAbsent):
        ask(path, "status", {}, timeout_seconds=30)
    with serving(path):
        assert ask(path, "status", {}, timeout_seconds=30)["command"] == "status"
    assert not path.exists()


def test_an_owner_that_dies_with_the_request_is_absent_but_was_asked(path: Path) -> None:
    with bound(path, 0o600) as listener:

        def take_and_leave() -> None:
            channel, _ = listener.accept()
            with channel:
                receive_frame(channel)

        thread = threading.Thread(target=take_and_leave)
        thread.start()
        with pytest.raises(OwnerAbsent, match="left before it replied to 'sync'") as caught:
            ask(path, "sync", {}, timeout_seconds=30)
        thread.join(30)
    assert caught.value.asked


def test_a_reply_that_does_not_come_in_time_is_transient(path: Path) -> None:
    gate = threading.Event()

    def slow(_command: str, _arguments: Values) -> Values:
        gate.wait(30)
        return {}

    with serving(path, slow):
        with pytest.raises(errors.TransientError, match=r"did not reply to 'sync' in 0\.05 s"):
            ask(path, "sync", {}, timeout_seconds=0.05)
        gate.set()


def test_a_second_server_is_refused(path: Path) -> None:
    with serving(path), pytest.raises(errors.StateLocked, match="already listens"):
        ControlServer(path, echo)


def test_what_is_not_a_socket_is_left_alone(path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(errors.StateUnusable, match="in the way"):
        ControlServer(path, echo)
    assert path.read_text() == "precious"


def test_a_socket_without_its_directory_is_unusable(tmp_path: Path) -> None:
    with pytest.raises(errors.StateUnusable, match="cannot be made"):
        ControlServer(socket_path(tmp_path / "missing"), echo)


def test_the_socket_is_private(path: Path) -> None:
    with serving(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_closing_leaves_the_socket_of_a_successor(path: Path) -> None:
    server = ControlServer(path, echo)
    path.unlink()
    with serving(path):
        server.close()
        server.close()
        assert ask(path, "status", {}, timeout_seconds=30)["command"] == "status"


@pytest.mark.parametrize("protocol", [0, 2, None, "1"])
def test_a_client_of_another_version_is_told_so(path: Path, protocol: object) -> None:
    with serving(path), connected(path, 30) as channel:
        send_frame(channel, {"protocol": protocol, "version": "9.9.9", "command": "status", "arguments": {}})
        reply, _ = receive_frame(channel)
    assert reply["error"]["type"] == "ConfigurationError"
    assert f"the command is ingestd 9.9.9 with control protocol {protocol}" in reply["error"]["message"]


def test_a_daemon_of_another_version_is_told_of(path: Path) -> None:
    with bound(path, 0o600) as listener:

        def newer() -> None:
            channel, _ = listener.accept()
            with channel:
                receive_frame(channel)
                send_frame(channel, {"protocol": 7, "version": "3.0.0", "error": {"type": "Unheard", "message": "of"}})

        thread = threading.Thread(target=newer)
        thread.start()
        with pytest.raises(
            errors.ConfigurationError, match=r"owner of the state is ingestd 3\.0\.0 with control protocol 7"
        ):
            ask(path, "status", {}, timeout_seconds=30)
        thread.join(30)


NESTED = b"[" * 60_000


@pytest.mark.parametrize(
    "raw",
    [
        (10).to_bytes(4, "little") + (0).to_bytes(4, "little") + b"not json!!",
        (70_000).to_bytes(4, "little") + (0).to_bytes(4, "little"),
        (2).to_bytes(4, "little") + (2**32 - 1).to_bytes(4, "little"),
        len(NESTED).to_bytes(4, "little") + (0).to_bytes(4, "little") + NESTED,
        (2).to_bytes(4, "little") + (0).to_bytes(4, "little") + b"[]",
        (1).to_bytes(4, "little") + (0).to_bytes(4, "little") + b"\xff",
    ],
)
def test_a_request_that_cannot_be_read_is_refused_and_the_server_goes_on(path: Path, raw: bytes) -> None:
    with serving(path):
        with connected(path, 30) as channel:
            channel.sendall(raw)
            reply, _ = receive_frame(channel)
        assert "cannot read the request" in reply["error"]["message"]
        assert ask(path, "status", {}, timeout_seconds=30)["command"] == "status"


@pytest.mark.parametrize("fields", [{}, {"command": 1, "arguments": {}}, {"command": "x", "arguments": []}])
def test_a_request_without_command_or_arguments_is_refused(path: Path, fields: Values) -> None:
    with serving(path), connected(path, 30) as channel:
        send_frame(channel, {"protocol": 1, **fields})
        reply, _ = receive_frame(channel)
    assert reply["error"]["message"] == "a request holds a command and its arguments"


def test_a_request_over_the_cap_is_refused_before_it_is_sent(path: Path) -> None:
    with pytest.raises(errors.ConfigurationError, match="over 65536 bytes"):
        ask(path, "forget", {"paths": ["x" * 70_000]}, timeout_seconds=30)


def test_one_command_too_many_is_told_to_come_back(path: Path) -> None:
    gate, inside = threading.Event(), threading.Semaphore(0)

    def waiting(_command: str, _arguments: Values) -> Values:
        inside.release()
        gate.wait(60)
        return {"done": True}

    replies: list[Values] = []
    with serving(path, waiting):
        clients = [
            threading.Thread(target=lambda: replies.append(ask(path, "sync", {}, timeout_seconds=60)))
            for _ in range(CONNECTIONS)
        ]
        for client in clients:
            client.start()
        for _ in range(CONNECTIONS):
            assert inside.acquire(timeout=30)
        with pytest.raises(errors.TransientError, match="busy") as caught:
            ask(path, "status", {}, timeout_seconds=30)
        assert caught.value.delay_seconds == 1.0
        gate.set()
        for client in clients:
            client.join(60)
        assert replies == [{"done": True}] * CONNECTIONS
        assert ask(path, "status", {}, timeout_seconds=30) == {"done": True}


def test_closing_cuts_off_what_does_not_end(path: Path) -> None:
    server = ControlServer(path, echo)
    with connected(path, 30) as channel:
        until(lambda: any(t.name == "ingestd-control-answer" for t in threading.enumerate()))
        server.close(grace_seconds=0)
        with pytest.raises((EOFError, ConnectionError)):
            receive_frame(channel)
    until(lambda: not any(t.name.startswith("ingestd-control") for t in threading.enumerate()))


@pytest.mark.skipif(sys.platform != "linux", reason="a socket is addressed through a descriptor on Linux alone")
def test_a_deep_state_directory_keeps_its_socket_inside(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["deep-directory-" * 3] * 6)
    deep.mkdir(parents=True)
    path = socket_path(deep)
    assert path == deep / "control.sock"
    with serving(path):
        assert path.is_socket()
        assert ask(path, "status", {}, timeout_seconds=30)["command"] == "status"
    assert not path.exists()


def test_without_descriptors_a_deep_state_directory_has_a_short_private_path(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["deep-directory-" * 3] * 3)
    deep.mkdir(parents=True)
    path = socket_path(deep, by_descriptor=False)
    assert path == socket_path(deep, by_descriptor=False)
    assert path.parent == Path(f"/tmp/ingestd-{os.getuid()}")
    assert len(os.fsencode(path)) < 100
    assert path != socket_path(deep.parent, by_descriptor=False)
    assert socket_path(Path("/s"), by_descriptor=False) == Path("/s/control.sock")
    with serving(path):
        assert ask(path, "status", {}, timeout_seconds=30)["command"] == "status"


def test_a_short_path_in_a_folder_that_is_not_private_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / f"ingestd-{os.getuid()}"
    make_private(folder)
    make_private(folder)
    folder.chmod(0o750)
    with pytest.raises(errors.StateUnusable, match="mode 0700"):
        check_private(folder)
    with pytest.raises(errors.StateUnusable, match="mode 0700"):
        ControlServer(folder / "0123456789abcdef.sock", echo)
    with pytest.raises(errors.StateUnusable, match="mode 0700"):
        ask(folder / "0123456789abcdef.sock", "status", {}, timeout_seconds=30)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(errors.StateUnusable):
        check_private(folder)
    other = tmp_path / f"ingestd-{os.getuid() + 1}"
    other.mkdir(mode=0o700)
    with pytest.raises(errors.StateUnusable):
        check_private(other)
    with pytest.raises(OwnerAbsent):
        ask(tmp_path / "ingestd-none" / "0123456789abcdef.sock", "status", {}, timeout_seconds=30)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_not_answered(tmp_path: Path) -> None:
    # A socket pair would carry our own credentials: the client must be another process of another user.
    with contextlib.ExitStack() as stack:
        directory = Path(f"/tmp/ingestd-test-{os.getpid()}")
        directory.mkdir(mode=0o755)
        stack.callback(directory.rmdir)
        path = socket_path(directory)
        stack.callback(ControlServer(path, echo, mode=0o666).close)
        script = (
            "import socket, sys; c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1]); c.settimeout(30)\n"
            "sys.stdout.buffer.write(c.recv(65536)[8:])"
        )
        done = subprocess.run(
            ["/usr/bin/env", "python3", "-c", script, str(path)],
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            pytest.skip("no interpreter that another user can run")
    assert "its own user and root alone" in json.loads(done.stdout)["error"]["message"]


def test_the_client_is_cheap_to_import() -> None:
    heavy = "{'asyncio', 'pydantic', 'sqlalchemy', 'numpy', 'apscheduler', 'importlib.metadata', 'qdrant_client'}"
    script = f"import sys, ingestd.daemon.ask; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_clients_that_leave_at_once_do_not_end_the_server(path: Path) -> None:
    with serving(path):
        for _ in range(20):
            with socket.socket(socket.AF_UNIX) as channel:
                channel.connect(str(path))
        assert answered(path)["command"] == "status"


def answered(path: Path) -> dict[str, Any]:
    """Reply of a server that may be busy for a moment with those who left."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return ask(path, "status", {}, timeout_seconds=30)
        except errors.TransientError:
            assert time.monotonic() < deadline, "it stays busy"
            threading.Event().wait(0.05)
