"""Prints the exact versions of what the project needs, directly or not, as the running environment has them."""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = {"model", "docling", "ocr"}


def main() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    wanted = [Requirement(text) for text in project["project"]["dependencies"]]
    for extra in sorted(EXTRAS):
        wanted += [Requirement(text) for text in project["project"]["optional-dependencies"][extra]]
    for group in project["dependency-groups"].values():
        wanted += [Requirement(text) for text in group if isinstance(text, str)]
    wanted = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    print("# Exact versions that the tests run with, on Python 3.11 to 3.13. Written by `make constraints`.")
    for name, version in sorted(closure(wanted).items()):
        print(f"{name}=={version}")


def closure(wanted: list[Requirement]) -> dict[str, str]:
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                distribution = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                sys.exit(f"{name} is not installed: run `make venv` first")
            found[name] = re.sub(r"\+.*", "", distribution.version)
            inner = [Requirement(text) for text in distribution.requires or []]
            wanted += [one for one in inner if one.marker is None or one.marker.evaluate({"extra": extra})]
    return found


main()
