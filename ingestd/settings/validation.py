"""Types and limits of the configuration's values, by pydantic."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ingestd.settings.findings import nearest, shown
from ingestd.settings.lines import KeyPath
from ingestd.settings.tables import Settings

Fault = tuple[KeyPath, str]
Detail = dict[str, Any]
"""One error as pydantic describes it: ``loc``, ``type``, ``input``, ``msg``, ``ctx``."""
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a string",
    "path_type": "a path in quotation marks",
    "tuple_type": "an array",
    "dataclass_type": "a table",
    "dataclass_exact_type": "a table",
}
_LIMITS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}


def validated(data: Mapping[str, Any]) -> tuple[Settings, tuple[int, ...], tuple[Fault, ...]]:
    """Settings of all that is valid in the data, and the faults of the rest.

    Parameters
    ----------
    data
        The configuration with the roots under ``roots``, their inherited keys filled in. Unknown keys are passed over.

    Returns
    -------
    settings
        With the default in place of each faulty key; roots without a name or path are left out.
    whole_roots
        Index in ``data["roots"]`` of each root of the settings.
    faults
        Path and message of each fault.
    """
    adapter = TypeAdapter(Settings)
    try:
        settings = _parsed(adapter, data)
        return settings, tuple(range(len(settings.roots))), ()
    except ValidationError as error:
        details: list[Detail] = [dict(detail) for detail in error.errors(include_url=False)]
    kept, whole_roots = _without_faults(data, details)
    return _parsed(adapter, kept), whole_roots, tuple((detail["loc"], _message(detail)) for detail in details)


def _parsed(adapter: TypeAdapter[Settings], data: Mapping[str, Any]) -> Settings:
    # By way of JSON: in its strict mode pydantic takes arrays for tuples and strings for paths there, and nothing else
    # for anything.
    return adapter.validate_json(json.dumps(data, default=str), strict=True)


def _without_faults(data: Mapping[str, Any], details: list[Detail]) -> tuple[dict[str, Any], tuple[int, ...]]:
    kept: dict[str, Any] = json.loads(json.dumps(data, default=str))
    broken_roots: set[int] = set()
    for detail in details:
        path = detail["loc"]
        if path[0] == "roots" and len(path) > 1 and (len(path) == 2 or path[2] in {"name", "path"}):
            broken_roots.add(int(path[1]))
        else:
            _remove(kept, path)
    roots = kept.get("roots", [])
    whole_roots = tuple(index for index in range(len(roots)) if index not in broken_roots)
    if roots:
        kept["roots"] = [roots[index] for index in whole_roots]
    return kept, whole_roots


def _remove(value: Any, path: KeyPath) -> None:
    """Take the key out, or the array that holds the faulty element."""
    *parents, last = path
    if isinstance(last, int):
        *parents, last = parents
    for part in parents:
        value = value[part]
    value.pop(last, None)


def _message(detail: Detail) -> str:
    kind, given, context = detail["type"], shown(detail["input"]), detail.get("ctx", {})
    if kind == "missing":
        return "is missing, and has no default: add it"
    if kind == "literal_error":
        allowed = [word.strip(" '") for word in str(context["expected"]).replace(" or ", ", ").split(",")]
        return f"{given} is none of {context['expected']}; {nearest(str(detail['input']), allowed)}"
    if kind == "string_pattern_mismatch":
        return f"{given} does not match {context['pattern']}: begin with a letter or digit, no spaces"
    if kind in _LIMITS:
        words, limit = _LIMITS[kind]
        return f"{given} is out of range: expected {words} {context[limit]:g}"
    if kind in _EXPECTED:
        way_out = ": begin each root with [[root]], in two brackets" if detail["loc"] == ("roots",) else ""
        return f"{given} is not {_EXPECTED[kind]}{way_out}"
    return f"{given}: {detail['msg']}"
