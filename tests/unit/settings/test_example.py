import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from ingestd.chunk import options
from ingestd.chunk.options import NAMES, PROFILES, SMALLEST
from ingestd.resources import shipped
from ingestd.settings import ChunkerSettings, RootSettings, Settings, load
from ingestd.settings.checks import LEAST_MAX_SIZE, SEED_LACKS

EXAMPLE = shipped("config.example.toml").read_text(encoding="utf-8")
WITHOUT_DEFAULT = "no default"


def uncommented() -> dict[str, Any]:
    return tomllib.loads(re.sub(r"^# (?=[a-z_]+ = |\[)", "", EXAMPLE, flags=re.MULTILINE))


def documented(table: dict[str, Any], settings: type) -> None:
    """Hold one table of the example against its dataclass."""
    inner = get_type_hints(settings)
    for field in dataclasses.fields(settings):
        key = {"roots": "root"}.get(field.name, field.name)
        assert key in table, f"{settings.__name__}.{key} is not in the example"
        if isinstance(table[key], dict) or key == "root":
            continue
        if field.default is dataclasses.MISSING or field.default is None:
            assert WITHOUT_DEFAULT in comment_above(key, table[key]), f"{key}: say that it has no default"
        else:
            value = tuple(table[key]) if isinstance(table[key], list) else table[key]
            assert (value, type(value)) == (field.default, type(field.default)), key
    unknown = set(table) - {{"roots": "root"}.get(name, name) for name in inner}
    assert not unknown


def comment_above(key: str, value: Any) -> str:
    line = f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
    lines = EXAMPLE.splitlines()
    end = next(i for i, text in enumerate(lines) if text.removeprefix("# ") == line)
    start = next(i for i in range(end - 1, -1, -1) if not lines[i].startswith("# "))
    return " ".join(text.removeprefix("# ") for text in lines[start + 1 : end]).lower()


@pytest.mark.parametrize("table", ["store", "embedder", "converter", "chunker", "daemon"])
def test_every_key_of_a_table_is_in_the_example_with_its_default(table: str) -> None:
    documented(uncommented()[table], get_type_hints(Settings)[table])


def test_every_key_of_a_root_is_in_the_example_with_its_default() -> None:
    documented(uncommented()["root"][0], RootSettings)


def test_every_table_is_in_the_example() -> None:
    documented(uncommented(), Settings)


def test_every_key_of_the_example_has_words_above_it() -> None:
    lines = EXAMPLE.splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r"(# )?[a-z_]+ = ", line)]
    bare = [lines[i] for i in keys if not lines[i - 1].startswith("# ") or i - 1 in keys]
    assert not bare


def test_the_example_loads_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    settings = load(file, absent_folders="allowed")
    assert dataclasses.replace(settings, roots=()) == Settings()
    assert [root.name for root in settings.roots] == ["documents"]


def test_every_key_has_a_docstring_in_the_code() -> None:
    source = (Path(shipped("ingestd")) / "settings" / "tables.py").read_text(encoding="utf-8")
    keys = re.findall(r"^    \w+: .*\n(?:    [\])].*\n)?(    \S.*)", source, flags=re.MULTILINE)
    tables = ("    store:", "    embedder:", "    converter:", "    chunker:", "    daemon:", "    roots:")
    bare = [after for after in keys if not after.startswith(('    """', *tables))]
    assert not bare


def test_the_chunkers_names_and_limits_are_the_chunkers_own() -> None:
    hints = get_type_hints(ChunkerSettings)
    assert get_args(hints["name"]) == NAMES
    assert get_args(hints["profile"]) == PROFILES
    assert get_args(get_args(hints["unit"])[0]) == tuple(SMALLEST)
    assert dict(SMALLEST) == LEAST_MAX_SIZE
    assert {name: lacks for name, (lacks, _) in SEED_LACKS.items()} == {
        name: lacks for name, (lacks, _) in options.SEED_LACKS.items()
    }
