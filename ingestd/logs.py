"""Log events: a dotted name with fields, a line each, as text or JSON.

Names and values from the outside are escaped, so that no file name can write to a terminal or forge a line.
"""

import json
import logging
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, TextIO

from ingestd.model.source import display, printable

Field = str | int | float | bool | bytes | None
"""Bytes are a path, as the file system gave it."""
Style = Literal["text", "json"]
LEVELS = ("debug", "info", "warning", "error")
PACKAGES = ("ingestd", "ingestd_adapters")

_FIELDS = "ingestd_fields"
_BACKLOG_LINES = 10_000
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", _FIELDS}


@dataclass(frozen=True, slots=True)
class Log:
    """Writes events under one logger name, each with the fields bound to it."""

    name: str
    bound: MappingProxyType[str, Field] = field(default_factory=lambda: MappingProxyType({}))

    def bind(self, **fields: Field) -> "Log":
        """Same log with more fields on every event, such as a document's id and version."""
        return Log(self.name, MappingProxyType({**self.bound, **fields}))

    def debug(self, event: str, **fields: Field) -> None:
        """A step."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Field) -> None:
        """What was done with a document."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Field) -> None:
        """Something is degraded."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Field) -> None:
        """A person must look."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Field) -> None:
        """A bug, with the traceback of the exception in hand."""
        self._write(logging.ERROR, event, fields, traceback=sys.exc_info()[0] is not None)

    def _write(self, level: int, event: str, fields: dict[str, Field], *, traceback: bool = False) -> None:
        logger = logging.getLogger(self.name)
        if logger.isEnabledFor(level):
            logger.log(level, "%s", event, extra={_FIELDS: {**self.bound, **fields}}, exc_info=traceback)


def configure(level: str, style: Style, *, background: bool = False) -> Callable[[], None]:
    """Send the events of all loggers to stderr.

    Parameters
    ----------
    level
        One of :data:`LEVELS`, for our own events; other packages' are shown from ``warning`` on.
    style
        ``text`` or ``json`` lines.
    background
        Write from a thread of its own, so that a reader of stderr who stopped reading never stops the work: lines over
        a backlog of 10,000 are dropped and counted. For the daemon.

    Returns
    -------
    Callable
        Writes what is left, for two seconds at most; to be called at the end.
    """
    handler = _Backlog() if background else _Stderr()
    handler.setFormatter(_Json() if style == "json" else _Text())
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for package in PACKAGES:
        logging.getLogger(package).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    return handler.close


class _Stderr(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        # Looked up at each line: progress bars put a stream of their own in its place.
        _write_line(sys.stderr, self.format(record))


class _Backlog(logging.Handler):
    """Hands lines to a thread; never blocks."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: queue.Queue[str | None] = queue.Queue(_BACKLOG_LINES)
        self._dropped = 0
        self._thread = threading.Thread(target=self._drain, name="ingestd-logs", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        try:
            self._lines.put(None, timeout=1.0)
        except queue.Full:
            pass  # nobody reads: there is nothing to wait for
        else:
            self._thread.join(1.0)
        super().close()

    def _drain(self) -> None:
        while (line := self._lines.get()) is not None:
            _write_line(sys.stderr, line)
            if self._dropped and self._lines.empty():
                dropped, self._dropped = self._dropped, 0
                _write_line(sys.stderr, f"logs.dropped lines={dropped}")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        words = [_time(record), record.levelname, printable(record.getMessage())]
        words += [f"{key}={_word(value)}" for key, value in _fields(record).items()]
        line = " ".join(words)
        if record.exc_info:
            # The traceback of a bug holds lines of its own; each is made safe by itself.
            trace = self.formatException(record.exc_info)
            line += "".join(f"\n  {printable(part)}" for part in trace.splitlines())
        return line


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        value: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
        }
        for key, content in _fields(record).items():
            value[key] = display(content) if isinstance(content, bytes) else content
        if record.exc_info:
            value["traceback"] = self.formatException(record.exc_info)
        return json.dumps(value, default=str)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Fields of our own events, and what other code passed as ``extra``."""
    extra = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    return {**extra, **getattr(record, _FIELDS, {})}


def _word(value: object) -> str:
    text = display(value) if isinstance(value, bytes) else printable(str(value))
    plain = text and not any(c in ' "=' for c in text)
    return text if plain else '"' + text.replace('"', '\\"') + '"'


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write_line(stream: TextIO | None, line: str) -> None:
    if stream is None:
        return
    try:
        stream.write(line + "\n")
        stream.flush()
    except (OSError, ValueError):
        # Stderr is closed or full: there is nowhere to say so.
        return
