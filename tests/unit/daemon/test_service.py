"""A process that uses all the parts lives as its service manager expects."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

SERVICE = """
import os, sys
from ingestd.daemon.notify import Notifier, Pinger, Watchdog, watchdog_seconds
from ingestd.daemon.signals import Signals
notifier, watchdog = Notifier.from_environment(os.environ), Watchdog()
watchdog.register("loop", 3600)
with Signals() as signals, Pinger(notifier, watchdog, watchdog_seconds(os.environ, os.getpid())):
    notifier.ready("serving")
    while not signals.stop.wait(0.01):
        watchdog.beat("loop")
        if signals.reload.is_set():
            signals.reload.clear()
            notifier.reloading()
            notifier.ready("reloaded")
    notifier.stopping(signals.stop.reason)
"""


def test_ready_reload_watchdog_and_stopping_reach_a_real_notify_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(30)
        environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        process = subprocess.Popen([sys.executable, "-c", SERVICE], env=environment)

        def until(wanted: str) -> list[str]:
            seen: list[str] = []
            while wanted not in seen:
                seen += manager.recv(4096).decode().split("\n")
            return seen

        try:
            until("READY=1")
            until("WATCHDOG=1")
            process.send_signal(signal.SIGHUP)
            reloading = until("STATUS=reloaded")
            assert reloading.index("RELOADING=1") < reloading.index("READY=1")
            until("WATCHDOG=1")
            process.send_signal(signal.SIGTERM)
            stopping = until("STATUS=SIGTERM received")
            assert "STOPPING=1" in stopping
            assert process.wait(30) == 0
        finally:
            process.kill()
            process.wait()
