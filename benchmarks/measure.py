"""What a command and all its children cost."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_SECONDS = 0.1
_MIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one run, start-up included."""

    output: str
    exit_code: int
    cpu_seconds: float
    """User and system, of the process and of every descendant that was waited for."""
    wall_seconds: float
    peaks_mib: Mapping[str, float]
    """Peak resident memory by what the process is, shared pages counted in each."""
    seconds: Mapping[str, float]
    """CPU seconds by what the process is, as last seen before its end."""

    @property
    def peak_mib(self) -> float:
        """Of the largest process."""
        return max(self.peaks_mib.values(), default=0.0)


def run(argv: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end."""
    began = time.monotonic()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    peaks: dict[str, float] = {}
    seconds: dict[int, tuple[str, float]] = {}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, peaks, seconds, done))
    watcher.start()
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    done.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if not any(peaks.values()):
        peaks["itself"] = usage.ru_maxrss / _MIB
    return Cost(
        output=output,
        exit_code=process.returncode,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        wall_seconds=wall,
        peaks_mib=peaks,
        seconds=_by_role(seconds.values()),
    )


def yardstick() -> float:
    """CPU seconds of a fixed piece of work: how slow the machine is at the moment."""
    code = "import time\nb=time.process_time()\ns=0\nfor i in range(10_000_000): s+=i\nprint(time.process_time()-b)"
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def folder_bytes(folder: Path) -> int:
    """Bytes on the disk of all files below, holes left out."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _watch(pid: int, peaks: dict[str, float], seconds: dict[int, tuple[str, float]], done: threading.Event) -> None:
    while not done.wait(_LOOK_SECONDS):
        for descendant in _tree(pid):
            name = "itself" if descendant == pid else _role(descendant)
            if name:
                peaks[name] = max(peaks.get(name, 0.0), _peak_mib(descendant))
                seconds[descendant] = (name, max(_cpu_seconds(descendant), seconds.get(descendant, ("", 0.0))[1]))


def _by_role(seen: Iterable[tuple[str, float]]) -> dict[str, float]:
    summed: dict[str, float] = {}
    for name, seconds in seen:
        summed[name] = round(summed.get(name, 0.0) + seconds, 2)
    return summed


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> list[int]:
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                left += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def _role(pid: int) -> str:
    try:
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return argv[2].decode().rpartition(".")[2] if argv[1:2] == [b"-m"] else argv[0].decode().rpartition("/")[2]


def _peak_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / _MIB for line in lines if line.startswith("VmHWM:")), 0.0)
