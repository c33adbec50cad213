"""Limits on numbers and texts, written beside the keys that they limit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Metadata of an ``Annotated`` number: what the configuration may set it to, both ends included."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    """Exclusive lower end."""

    def __get_pydantic_core_schema__(self, source: Any, schema_of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Schema of the annotated type with these limits; this protocol keeps pydantic out of the values' module."""
        schema = schema_of(source)
        finite = {"allow_inf_nan": False} if schema["type"] == "float" else {}
        limits = {"ge": self.least, "le": self.most, "gt": self.above}
        return {**schema, **finite, **{key: value for key, value in limits.items() if value is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Metadata of an ``Annotated`` text: what it has to look like."""

    pattern: str
    """Regular expression, anchored at both ends."""

    def __get_pydantic_core_schema__(self, source: Any, schema_of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Schema of the annotated type with this pattern."""
        return {**schema_of(source), "pattern": self.pattern}
