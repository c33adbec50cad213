"""What a caller may ask of a chunker, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NAMES = ("structure-first", "grain-growth")
PROFILES = ("native",)
SMALLEST: Mapping[str, int] = MappingProxyType({"tokens": 16, "chars": 64})
"""Least ``max_size`` of each unit: room for a heading line and a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of a chunk's text, heading path included, in one unit."""

    max_size: int
    """Never exceeded."""
    target_size: int
    """Where a chunk that has a choice ends."""
    min_size: int
    """Smaller ones are merged where the structure allows it."""


DEFAULTS: Mapping[tuple[str, str], Sizes] = MappingProxyType(
    {
        ("structure-first", "tokens"): Sizes(max_size=160, target_size=125, min_size=40),
        ("structure-first", "chars"): Sizes(max_size=760, target_size=590, min_size=190),
        ("grain-growth", "tokens"): Sizes(max_size=150, target_size=110, min_size=32),
        ("grain-growth", "chars"): Sizes(max_size=710, target_size=520, min_size=150),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """Which chunker, and how large its chunks; ``None`` stands for the chunker's own default.

    When only some sizes are given, the others keep their default proportion to them.
    """

    name: str = "structure-first"
    profile: str = "native"
    max_size: int | None = None
    min_size: int | None = None
    target_size: int | None = None
    unit: str = "tokens"
    """``tokens`` of the embedder's own tokenizer, or ``chars``: Unicode code points."""


def sizes_of(options: ChunkOptions) -> Sizes:
    """Sizes that the options stand for.

    Raises
    ------
    ValueError
        When an option is out of its range; names the option, its value and the range.
    """
    _one_of("name", options.name, NAMES)
    _one_of("profile", options.profile, PROFILES)
    _one_of("unit", options.unit, tuple(SMALLEST))
    default = DEFAULTS[options.name, options.unit]
    largest = _largest(options, default)
    _between("max_size", largest, SMALLEST[options.unit], None)
    target = options.target_size
    if target is None:
        target = max(1, largest * default.target_size // default.max_size)
    _between("target_size", target, 1, largest)
    smallest = options.min_size
    if smallest is None:
        smallest = target * default.min_size // default.target_size
    _between("min_size", smallest, 0, target)
    return Sizes(max_size=largest, target_size=target, min_size=smallest)


def _largest(options: ChunkOptions, default: Sizes) -> int:
    if options.max_size is not None:
        return options.max_size
    if options.target_size is None:
        return default.max_size
    return max(SMALLEST[options.unit], -(-options.target_size * default.max_size // default.target_size))


def _one_of(parameter: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{parameter} must be one of {', '.join(known)}; got {value!r}")


def _between(parameter: str, value: int, low: int, high: int | None) -> None:
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{parameter} must be {limits}; got {value}")
