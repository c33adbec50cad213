"""Spans of OpenTelemetry where its API is installed, and nothing where it is not.

The extra ``otel`` installs the API; the program that imports this one sets up the provider that records. Without one a span
costs a microsecond or two, without the API less than one.
"""

from collections.abc import Callable, Mapping, Sequence
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


def _recorder() -> "Callable[[], Tracer | None]":
    """What gives the tracer once a provider is set up, and ``None`` until then."""
    # The one place that asks for the API; everything else goes on without it.
    try:
        from opentelemetry import trace
    except ImportError:
        return lambda: None
    # Made once: the seed makes one for each span, and looks its version up each time, which takes 0.9 ms. This one passes on
    # to whatever provider is set up later.
    tracer = trace.get_tracer("ingestd", __version__)

    def recorder() -> "Tracer | None":
        # Spans that no provider takes cost four times as much as this look (measured 2026-12).
        return None if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider) else tracer

    return recorder


_NOTHING = _Nothing()
_RECORDER = _recorder()


def span(name: str, attributes: Mapping[str, Value] | None = None) -> AbstractContextManager[Span]:
    """The span of what runs inside; an exception that leaves it is recorded."""
    tracer = _RECORDER()
    return _NOTHING if tracer is None else tracer.start_as_current_span(name, attributes=attributes)


def begun(name: str, attributes: Mapping[str, Value] | None = None) -> Span:
    """A span that lasts until its ``end``, for a generator: what its caller does between two values is not inside."""
    tracer = _RECORDER()
    return _NOTHING if tracer is None else tracer.start_span(name, attributes=attributes)


def within(parent: Span) -> AbstractContextManager[object]:
    """Have the spans made inside belong to one that was begun."""
    if isinstance(parent, _Nothing):
        return _NOTHING
    from opentelemetry import trace

    return trace.use_span(parent) if isinstance(parent, trace.Span) else _NOTHING
