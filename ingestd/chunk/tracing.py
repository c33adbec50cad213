"""Spans of OpenTelemetry where its API is installed, and nothing where it is not.

The extra ``otel`` installs the API; the program that imports this one chooses and sets up what records. Without a recorder
a span costs about a microsecond, without the API a tenth of that.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from ingestd import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

Value = str | bool | int | float | Sequence[str] | Sequence[int] | Sequence[float]


class Span(Protocol):
    """What is known of one run of a stage."""

    def set_attribute(self, key: str, value: Value, /) -> object:
        """Add what became known meanwhile."""
        ...

    def end(self) -> None:
        """The run is over; a span that was entered ends by itself."""
        ...


class _Nothing:
    """A span that nobody records."""

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left open."""

    def set_attribute(self, _key: str, _value: Value, /) -> None:
        """Nothing is kept."""

    def end(self) -> None:
        """Nothing is sent."""


def _tracer() -> "Tracer | None":
    # The one place that asks for the API; everything else goes on without it.
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("ingestd", __version__)


_NOTHING = _Nothing()
# Made once: the seed makes one for each span, and looks its version up each time, which takes 0.9 ms. This one passes on to
# whatever provider is set up later.
_TRACER = _tracer()


def span(name: str, attributes: Mapping[str, Value] | None = None) -> AbstractContextManager[Span]:
    """The span of what runs inside; an exception that leaves it is recorded."""
    return _NOTHING if _TRACER is None else _TRACER.start_as_current_span(name, attributes=attributes)


def begun(name: str, attributes: Mapping[str, Value] | None = None) -> Span:
    """A span that lasts until its ``end``, for a generator: what its caller does between two values is not inside."""
    return _NOTHING if _TRACER is None else _TRACER.start_span(name, attributes=attributes)


def within(parent: Span) -> AbstractContextManager[object]:
    """Have the spans made inside belong to one that was begun."""
    if _TRACER is None:
        return _NOTHING
    from opentelemetry import trace

    return trace.use_span(parent) if isinstance(parent, trace.Span) else _NOTHING
