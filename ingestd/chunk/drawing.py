"""Values of any iterable, drawn without blocking the event loop."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

Drawn = TypeVar("Drawn")


async def drawn(values: Iterable[Drawn] | AsyncIterable[Drawn]) -> AsyncGenerator[Drawn, None]:
    """Each value when it is asked for; what makes an ordinary iterable's values runs in a thread, one value at a time."""
    if isinstance(values, AsyncIterable):
        async for value in values:
            yield value
    elif isinstance(values, Sequence):
        for value in values:
            yield value
    else:
        iterator = iter(values)
        while next_one := await asyncio.to_thread(_first, iterator):
            yield next_one[0]


def _first(iterator: Iterator[Drawn]) -> list[Drawn]:
    return list(islice(iterator, 1))
