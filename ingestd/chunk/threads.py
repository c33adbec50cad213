"""Work of the processor in a thread, for callers that live in an event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")
Look = Callable[[], None]
"""Returns while someone waits for the work's result."""


class Abandoned(Exception):
    """Ends work whose result nobody waits for any more; no caller ever sees it."""


async def in_a_thread(work: Callable[[Look], _Result]) -> _Result:
    """Result of the work, which a thread of the event loop's executor does meanwhile.

    Parameters
    ----------
    work
        Is given a function to call now and then, which raises :class:`Abandoned` once the task was cancelled: a thread
        cannot be ended from outside.
    """
    abandoned = threading.Event()

    def look() -> None:
        if abandoned.is_set():
            raise Abandoned

    try:
        return await asyncio.to_thread(work, look)
    finally:
        abandoned.set()
