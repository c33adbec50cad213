"""Events of a root as hints; the only place that knows watchdog."""

from ingestd.discover.watch.health import Broken, Degraded, Polling, WatchHealth, Watching
from ingestd.discover.watch.hints import Hints
from ingestd.discover.watch.watch import Watch

__all__ = ["Broken", "Degraded", "Hints", "Polling", "Watch", "WatchHealth", "Watching"]
