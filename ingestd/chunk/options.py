"""What a caller may ask of a chunker, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NAMES = ("structure-first", "grain-growth")
PROFILES = ("native", "compat")
SMALLEST: Mapping[str, int] = MappingProxyType({"tokens": 16, "chars": 64})
"""Least ``max_size`` of each unit: room for a heading line and a few words."""
SEED_UNIT = "chars"
"""What both published packages count, and so the profile ``compat``."""


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
        ("structure-first", "tokens"): Sizes(max_size=120, target_size=90, min_size=28),
        ("structure-first", "chars"): Sizes(max_size=570, target_size=425, min_size=133),
        ("grain-growth", "tokens"): Sizes(max_size=120, target_size=90, min_size=28),
        ("grain-growth", "chars"): Sizes(max_size=570, target_size=425, min_size=133),
    }
)


SEED_DEFAULTS: Mapping[str, Sizes] = MappingProxyType(
    {
        "structure-first": Sizes(max_size=2048, target_size=2048, min_size=716),
        "grain-growth": Sizes(max_size=2000, target_size=1500, min_size=0),
    }
)
"""Of the profile ``compat``: the published packages' own, in characters."""
SEED_LACKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "structure-first": ("target_size", "give max_size"),
        "grain-growth": ("min_size", "give target_size"),
    }
)
"""The size that the published package of a chunker does not know, and what to give in its place."""
SEED_LEAST_SHARE = 0.35
"""Share of ``max_size`` that is fancychunk's default ``min_size``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """Which chunker, and how large its chunks; ``None`` stands for the chunker's own default.

    In the profile ``native``, when only some sizes are given, the others keep their default proportion to them. In the
    profile ``compat`` each size is the published package's parameter: ``max_size`` and ``min_size`` of fancychunk,
    ``max_size`` (``max_chars``) and ``target_size`` (``target_chars``) of grain-growth.
    """

    name: str = "structure-first"
    profile: str = "native"
    max_size: int | None = None
    min_size: int | None = None
    target_size: int | None = None
    unit: str | None = None
    """``tokens`` of the embedder's own tokenizer, or ``chars``: Unicode code points. ``None``: tokens in the profile
    ``native``; ``compat`` knows characters alone."""


def unit_of(options: ChunkOptions) -> str:
    """What the sizes count.

    Raises
    ------
    ValueError
        When it is no unit, or not one of the profile.
    """
    unit = options.unit or (SEED_UNIT if options.profile == "compat" else "tokens")
    _one_of("unit", unit, tuple(SMALLEST))
    if options.profile == "compat" and unit != SEED_UNIT:
        raise ValueError(
            f'unit must be {SEED_UNIT} in the profile "compat", as the published packages count characters; got '
            f'{unit!r}: set unit = "{SEED_UNIT}", leave it out, or choose the profile "native"'
        )
    return unit


def sizes_of(options: ChunkOptions) -> Sizes:
    """Sizes that the options stand for.

    Raises
    ------
    ValueError
        When an option is out of its range; names the option, its value and the range.
    """
    _one_of("name", options.name, NAMES)
    _one_of("profile", options.profile, PROFILES)
    unit = unit_of(options)
    if options.profile == "compat":
        return _seed_sizes(options)
    default = DEFAULTS[options.name, unit]
    largest = _largest(options, default, unit)
    _between("max_size", largest, SMALLEST[unit], None)
    target = options.target_size
    if target is None:
        target = max(1, largest * default.target_size // default.max_size)
    _between("target_size", target, 1, largest)
    smallest = options.min_size
    if smallest is None:
        smallest = target * default.min_size // default.target_size
    _between("min_size", smallest, 0, target)
    return Sizes(max_size=largest, target_size=target, min_size=smallest)


def _seed_sizes(options: ChunkOptions) -> Sizes:
    """Sizes as the published package takes them; a target over the largest size is its caller's business there."""
    lacks, instead = SEED_LACKS[options.name]
    if getattr(options, lacks) is not None:
        raise ValueError(
            f'{lacks} is unknown to {options.name} in the profile "compat", got {getattr(options, lacks)}: leave it '
            f'out, {instead}, or choose the profile "native"'
        )
    default = SEED_DEFAULTS[options.name]
    largest = default.max_size if options.max_size is None else options.max_size
    _between("max_size", largest, 1, None)
    if options.name == "structure-first":
        smallest = int(SEED_LEAST_SHARE * largest) if options.min_size is None else options.min_size
        _between("min_size", smallest, 0, None)
        return Sizes(max_size=largest, target_size=largest, min_size=smallest)
    target = default.target_size if options.target_size is None else options.target_size
    _between("target_size", target, 1, None)
    return Sizes(max_size=largest, target_size=target, min_size=default.min_size)


def _largest(options: ChunkOptions, default: Sizes, unit: str) -> int:
    if options.max_size is not None:
        return options.max_size
    if options.target_size is None:
        return default.max_size
    return max(SMALLEST[unit], -(-options.target_size * default.max_size // default.target_size))


def _one_of(parameter: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{parameter} must be one of {', '.join(known)}; got {value!r}")


def _between(parameter: str, value: int, low: int, high: int | None) -> None:
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{parameter} must be {limits}; got {value}")
