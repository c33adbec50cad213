"""One configuration file, from its bytes to checked settings or findings."""

import contextlib
import dataclasses
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args, get_origin, get_type_hints

from ingestd.settings import checks
from ingestd.settings.findings import Finding, nearest
from ingestd.settings.lines import KeyPath, line_of, lines_of
from ingestd.settings.tables import ChunkerSettings, RootSettings, Settings
from ingestd.settings.validation import validated

AbsentFolders = Literal["refused", "allowed"]
_INHERITED = ("chunker", "converter", "embedder")
"""Tables of a root that start from the table of the same name at the top."""
_ATTRIBUTES = {"root": "roots"}
"""TOML names an array of tables in the singular."""


def examine(
    file: Path, *, environment: Mapping[str, str], absent_folders: AbsentFolders = "refused"
) -> tuple[Settings | None, tuple[Finding, ...]]:
    """Settings of the file, and all that is wrong with it; the settings are ``None`` where anything is."""
    text, unreadable = _text_of(file)
    if text is None:
        return None, unreadable
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return None, (_syntax_finding(error, text),)
    lines = lines_of(text)
    findings = list(_unknown_keys(written, Settings, ()))
    settings, whole_roots, faults = validated(_with_inherited(_renamed(written)))
    findings += [
        Finding(path=place, message=message)
        for path, message in faults
        if _is_written_there(place := _as_written(path), written)
    ]
    settings = _with_absolute_paths(settings, file.parent, environment)
    findings += checks.findings(settings, whole_roots, absent_folders=absent_folders)
    placed = tuple(dataclasses.replace(finding, line=line_of(lines, finding.path)) for finding in findings)
    return (None if placed else settings), placed


def _text_of(file: Path) -> tuple[str | None, tuple[Finding, ...]]:
    try:
        return file.read_bytes().decode("utf-8-sig"), ()
    except OSError as error:
        return None, (Finding(path=(), message=f"cannot be read ({error.strerror}): check its permissions"),)
    except UnicodeDecodeError as error:
        return None, (Finding(path=(), message=f"byte {error.start} is not UTF-8, which TOML asks for: save it so"),)


def _syntax_finding(error: tomllib.TOMLDecodeError, text: str) -> Finding:
    message = str(error)
    found = checks.TOML_PLACE.search(message)
    line = int(found[1]) if found else text.count("\n") + 1
    return Finding(path=(), line=line, message=f"this is no TOML: {message}")


def _unknown_keys(table: Mapping[str, Any], known: type, path: KeyPath) -> Iterator[Finding]:
    tables = _tables_of(known)
    for key, value in table.items():
        if key not in tables:
            yield Finding(path=(*path, key), message=f"unknown key; {nearest(key, list(tables))}")
            continue
        inner = tables[key]
        if inner is None:
            continue
        if _is_table(value):
            yield from _unknown_keys(value, inner, (*path, key))
        elif _is_array(value):
            for index, item in enumerate(value):
                if _is_table(item):
                    yield from _unknown_keys(item, inner, (*path, key, index))


def _tables_of(known: type) -> dict[str, type | None]:
    """Keys of a table as TOML names them; for those that hold tables, what these are."""
    written = {attribute: key for key, attribute in _ATTRIBUTES.items()}
    hints = get_type_hints(known)
    return {written.get(name, name): _dataclass_in(hint) for name, hint in hints.items()}


def _dataclass_in(hint: Any) -> type | None:
    if get_origin(hint) is tuple:
        hint = get_args(hint)[0]
    return hint if isinstance(hint, type) and dataclasses.is_dataclass(hint) else None


def _renamed(written: Mapping[str, Any]) -> dict[str, Any]:
    return {_ATTRIBUTES.get(key, key): value for key, value in written.items()}


def _as_written(path: KeyPath) -> KeyPath:
    written = {attribute: key for key, attribute in _ATTRIBUTES.items()}
    return tuple(written.get(part, part) if isinstance(part, str) else part for part in path[:1]) + path[1:]


def _with_inherited(data: dict[str, Any]) -> dict[str, Any]:
    """Data with the roots' tables filled up from those at the top."""
    roots = data.get("roots")
    if not _is_array(roots):
        return data
    return {**data, "roots": [_filled(root, data) if _is_table(root) else root for root in roots]}


def _filled(root: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(root)
    for name in _INHERITED:
        above, own = data.get(name, {}), root.get(name, {})
        if _is_table(above) and _is_table(own):
            changeable = _tables_of(RootSettings)[name]
            keys = _tables_of(changeable) if changeable else {}
            filled[name] = {**{key: value for key, value in above.items() if key in keys}, **own}
    return filled


def _is_written_there(path: KeyPath, written: Mapping[str, Any]) -> bool:
    """Whether the fault is not merely inherited: one at the top is reported once, not again for every root."""
    if len(path) < 4 or path[0] != "root" or path[2] not in _INHERITED:
        return True
    index = path[1]
    own: Any = written["root"][index].get(path[2], {})
    return path[3] in own


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _with_absolute_paths(settings: Settings, folder: Path, environment: Mapping[str, str]) -> Settings:
    store, embedder = settings.store, settings.embedder
    if store.api_key_file is not None:
        store = dataclasses.replace(store, api_key_file=_credential(store.api_key_file, folder, environment))
    if embedder.model_dir is not None:
        embedder = dataclasses.replace(embedder, model_dir=absolute(embedder.model_dir, folder))
    chunker = _chunker_with_absolute_paths(settings.chunker, folder)
    roots = tuple(_root_with_absolute_paths(root, folder) for root in settings.roots)
    return dataclasses.replace(settings, roots=roots, store=store, embedder=embedder, chunker=chunker)


def _root_with_absolute_paths(root: RootSettings, folder: Path) -> RootSettings:
    embedder = root.embedder
    if embedder.model_dir is not None:
        embedder = dataclasses.replace(embedder, model_dir=absolute(embedder.model_dir, folder))
    chunker = _chunker_with_absolute_paths(root.chunker, folder)
    return dataclasses.replace(root, path=absolute(root.path, folder), embedder=embedder, chunker=chunker)


def _chunker_with_absolute_paths(chunker: ChunkerSettings, folder: Path) -> ChunkerSettings:
    if chunker.segmenter_model_dir is None:
        return chunker
    return dataclasses.replace(chunker, segmenter_model_dir=absolute(chunker.segmenter_model_dir, folder))


def absolute(path: Path, folder: Path) -> Path:
    """Path with ``~`` expanded; a relative one starts at the folder. Links stay as they are."""
    # Of an unknown user: the check for missing folders names the path as it is.
    with contextlib.suppress(RuntimeError):
        path = path.expanduser()
    return Path(os.path.abspath(folder / path))  # noqa: PTH100 - resolve() would follow links


def _credential(path: Path, folder: Path, environment: Mapping[str, str]) -> Path:
    credentials = environment.get("CREDENTIALS_DIRECTORY")
    if credentials and not path.is_absolute() and (Path(credentials) / path).is_file():
        return Path(credentials) / path
    return absolute(path, folder)
