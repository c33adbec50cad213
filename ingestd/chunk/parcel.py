"""Values as bytes, on their way between this program's own processes."""

import copyreg
import io
import pickle
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def packed(value: object) -> bytes:
    """Bytes of a value.

    Raises
    ------
    pickle.PicklingError, AttributeError, TypeError
        When something in it has no name to be found by elsewhere, such as a lambda, or is bound to this process.
    """
    parcel = io.BytesIO()
    pickler = pickle.Pickler(parcel, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = copyreg.dispatch_table.copy()
    pickler.dispatch_table[MappingProxyType] = _reduced
    pickler.dump(value)
    return parcel.getvalue()


def unpacked(parcel: bytes) -> Any:
    """Value of these bytes; whatever looking up its names raises is raised."""
    return pickle.loads(parcel)  # noqa: S301  # from a process of our own, over a socket that nobody else has


def _reduced(view: Mapping[Any, Any]) -> tuple[Any, ...]:
    return _view, (dict(view),)


def _view(content: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(content)
