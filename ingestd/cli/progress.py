"""Progress bars on stderr, where that is a terminal."""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from ingestd.model.source import printable

Show = Callable[[Mapping[str, Any]], None]
"""Takes ``{"stage": NAME, "done": N, "total": N or None}``; a new stage opens a bar of its own. Never blocks."""


@contextmanager
def progress_bars() -> Generator[Show]:
    """Bars while the context lasts; without a terminal the function given takes everything and shows nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(event: Mapping[str, Any]) -> None:
            stage = printable(str(event["stage"]))
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=None)
            bars.update(tasks[stage], completed=event["done"], total=event.get("total"))

        yield show


def _nothing(_event: Mapping[str, Any]) -> None:
    """Show nothing."""
