"""Watches of all roots: kept alive, and read as hints for the loop."""

import threading
from collections.abc import Mapping

from ingestd.discover.mounts import mounts
from ingestd.discover.watch import Broken, Degraded, Hints, Polling, Watch, WatchHealth
from ingestd.logs import Log
from ingestd.pipeline.parts import RootPlan

REFUSED_ROUNDS = 60
"""A watch that the kernel refused is tried again at each so many looks."""

_POLLED = Polling(reason="events are not sent there, or `poll` says so", way_out="")

_log = Log(__name__)


class Watches:
    """One watch for each root that is not polled; the loop's thread only.

    Parameters
    ----------
    wake
        Set whenever a root has hints.
    """

    def __init__(self, wake: threading.Event) -> None:
        self._wake = wake
        self._watches: dict[int, Watch] = {}
        self._health: dict[int, WatchHealth] = {}
        self._rounds = 0

    def follow(self, plans: Mapping[int, RootPlan], polls: Mapping[int, str]) -> list[int]:
        """Watch these roots and no others; returns the ids of those newly watched, which need a scan."""
        for id_ in self._watches.keys() - plans.keys():
            self._watches.pop(id_).stop()
        self._health = {id_: health for id_, health in self._health.items() if id_ in plans}
        new: list[int] = []
        for id_, plan in plans.items():
            if id_ in self._watches:
                continue
            if needs_polling(plan.row.path, polls.get(id_, "auto")):
                self._health[id_] = _POLLED
                continue
            watch = Watch(plan.row.path, self._wake, recursive=plan.rules.recursive)
            self._watches[id_] = watch
            self._tell(id_, plan.name, watch.start())
            new.append(id_)
        return new

    def take(self) -> dict[int, Hints]:
        """Hints of each root that has some."""
        return {id_: hints for id_, watch in self._watches.items() if (hints := watch.take())}

    def supervise(self, plans: Mapping[int, RootPlan]) -> None:
        """Restart watches that broke, and now and then those that the kernel refused; what they missed is hinted at."""
        self._rounds += 1
        for id_, watch in self._watches.items():
            health = watch.check()
            if isinstance(health, Broken) or (isinstance(health, Polling) and self._rounds % REFUSED_ROUNDS == 0):
                health = watch.restart()
            if id_ in plans:
                self._tell(id_, plans[id_].name, health)

    def documents(self) -> dict[int, dict[str, object]]:
        """Health of each watch, for ``status``."""
        return {id_: _document(health) for id_, health in self._health.items()}

    def deaf(self) -> set[int]:
        """Roots of which some or all directories are not watched: they are scanned more often."""
        return {id_ for id_, health in self._health.items() if not _hears_all(health)}

    def cover(self, id_: int, directory: bytes) -> None:
        """See to it that a directory that a scan came by is watched."""
        if id_ in self._watches:
            self._watches[id_].cover(directory)

    def stop(self) -> None:
        """Let go of every watch."""
        for watch in self._watches.values():
            watch.stop()
        self._watches.clear()

    def _tell(self, id_: int, name: str, health: WatchHealth) -> None:
        if type(self._health.get(id_)) is not type(health) and not _hears_all(health):
            _log.warning("watch.degraded", root=name, health=str(_document(health)))
        self._health[id_] = health


def needs_polling(path: bytes, poll: str) -> bool:
    """Whether a root is scanned often instead of being watched."""
    if poll == "always":
        return True
    return poll == "auto" and any(mount.needs_polling for mount in mounts(path))


def _hears_all(health: WatchHealth) -> bool:
    return not isinstance(health, Degraded | Polling | Broken)


def _document(health: WatchHealth) -> dict[str, object]:
    match health:
        case Degraded(watched=watched, directories=directories, way_out=way_out):
            return {"state": "degraded", "watched": watched, "directories": directories, "way_out": way_out}
        case Polling(reason=reason, way_out=way_out):
            return {"state": "polling", "reason": reason, "way_out": way_out}
        case Broken(reason=reason):
            return {"state": "broken", "reason": reason}
        case _:
            return {"state": "watching", "directories": health.directories}
