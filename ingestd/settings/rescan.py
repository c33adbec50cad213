"""How often the roots are compared with the ledger, as the configuration writes it."""

import re
from dataclasses import dataclass

_INTERVAL = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FIELDS = ("minute", "hour", "day", "month", "weekday")
_LIMITS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
_NAMES = {
    "month": ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    "weekday": ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
}
_PART = re.compile(r"(\*|\w+(?:-\w+)?)(?:/(\d+))?")
LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Interval:
    """Every so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cron:
    """At the times that a cron line of five fields names, local time."""

    line: str


def rescan_from(text: str) -> Interval | Cron:
    """Read an interval (``90s``, ``15m``, ``6h``, ``1d``) or a cron line (``0 3 * * *``).

    Raises
    ------
    ValueError
        When it is neither; says what was expected.
    """
    if interval := _INTERVAL.fullmatch(text.strip()):
        seconds = float(interval[1]) * _SECONDS[interval[2]]
        if seconds < LEAST_SECONDS:
            raise ValueError(f"{text!r} is shorter than a second")
        return Interval(seconds)
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            f"{text!r} is neither an interval such as '15m' (s, m, h or d) nor a cron line of five fields such as "
            "'0 3 * * *'"
        )
    for name, field in zip(_FIELDS, fields, strict=True):
        _check_field(name, field)
    return Cron(" ".join(fields))


def _check_field(name: str, field: str) -> None:
    for part in field.split(","):
        found = _PART.fullmatch(part)
        if not found or found[2] == "0":
            raise ValueError(f"the {name} field {field!r} of the cron line is none: use *, 5, 1-5, */10 or 1,15")
        ends = [] if found[1] == "*" else [_number(name, end) for end in found[1].split("-")]
        if ends != sorted(ends):
            raise ValueError(f"the {name} field {field!r} of the cron line runs backwards")


def _number(name: str, text: str) -> int:
    names = _NAMES.get(name, ())
    least, most = _LIMITS[name]
    if text.lower() in names:
        return names.index(text.lower()) + least
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ValueError(f"{text!r} is no {name} of a cron line: expected {least} to {most}")
    return int(text)
