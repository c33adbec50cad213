"""Writes the parts of README.md that follow from the code: the table of settings, the help of the command line."""

import ast
import dataclasses
import functools
import itertools
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from ingestd.cli.parser import command_line
from ingestd.resources import shipped
from ingestd.settings import RootSettings, Settings

_INHERITED = {"chunker", "converter", "embedder"}


def main() -> None:
    file = Path("README.md")
    written = rendered(file.read_text(encoding="utf-8"))
    if "--check" in sys.argv:
        sys.exit(written != file.read_text(encoding="utf-8") and "README.md is behind the code: run `make readme`")
    file.write_text(written, encoding="utf-8")


def rendered(readme: str) -> str:
    # argparse breaks lines to the width of the terminal.
    os.environ["COLUMNS"] = "110"
    settings = "\n".join(["| key | default | meaning |", "|---|---|---|", *rows()])
    readme = re.sub(r"(<!-- settings -->\n)(?:\|.*\n)*", lambda found: f"{found[1]}{settings}\n", readme, count=1)
    help_text = command_line().format_help().rstrip()
    return re.sub(
        r"(<!-- help -->\n```console\n\$ ingestd --help\n).*?```",
        lambda found: f"{found[1]}{help_text}\n```",
        readme,
        flags=re.DOTALL,
    )


def rows() -> Iterator[str]:
    hints = get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        hint: Any = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from _rows(field.name, hint)
        elif field.name == "roots":
            yield from _rows("root", RootSettings)
        else:
            yield f"| `{field.name}` | {_default(field)} | {_meanings()[Settings.__name__, field.name]} |"


def _rows(table: str, settings: type) -> Iterator[str]:
    for field in dataclasses.fields(settings):
        if not (table == "root" and field.name in _INHERITED):
            meaning = next(
                _meanings()[kind.__name__, field.name]
                for kind in settings.__mro__
                if (kind.__name__, field.name) in _meanings()
            )
            yield f"| `{table}.{field.name}` | {_default(field)} | {meaning} |"


@functools.cache
def _meanings() -> Mapping[tuple[str, str], str]:
    """First sentence of the docstring below each key, by class and key."""
    source = (shipped("ingestd") / "settings" / "tables.py").read_text(encoding="utf-8")
    found: dict[tuple[str, str], str] = {}
    for settings in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        for key, text in itertools.pairwise(settings.body):
            if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                words = " ".join(str(text.value.value).split()).replace("``", "`")
                found[settings.name, ast.unparse(key.target)] = re.split(r"(?<=[a-z`)0-9])[.] ", words)[0].rstrip(".")
    return found


def _default(field: Any) -> str:
    if field.default is dataclasses.MISSING:
        return "needed"
    if field.default is None:
        return "unset"
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    mib = f" ({value / 2**20:g} MiB)" if isinstance(value, int) and value >= 2**20 else ""
    return f"`{json.dumps(value)}`{mib}"


if __name__ == "__main__":
    main()
