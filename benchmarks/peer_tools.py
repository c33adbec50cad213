"""The programs compared: how each brings its index up to date, and what it holds then."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
VENVS = HERE.parent / ".venvs"
Stored = list[tuple[str, str]]
"""Path below the root and text of every point."""

_NO_CALLS_HOME = {"COCOINDEX_DISABLE_USAGE_TRACKING": "1"}
_CONFIGURATION = """
[embedder]
name = "hash"
batch_tokens = 16384
[chunker]
unit = "chars"
max_size = {size}
[daemon]
settle_seconds = 0
[[root]]
name = "bench"
path = "{root}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a tool finds the files and keeps its own."""

    root: Path
    work: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One program."""

    name: str
    python: Path
    version: str
    """Distribution whose version is shown."""
    update: Callable[[Places, int, str], Sequence[Sequence[str]]]
    """Commands that bring the index up to date, from the places, the chunk size and the phase."""
    embedded: Callable[[str], int]
    """Texts embedded, from a command's output."""
    stored: Callable[[Places], Stored]
    vectors_bytes: Callable[[Places], int]
    """Bytes on the disk of what holds points and vectors."""
    environment: Mapping[str, str]


def tools() -> tuple[Tool, ...]:
    """Those that are installed."""
    known = (_ingestd(), _peer("LangChain", "lc", "langchain-core"), _peer("CocoIndex", "coco", "cocoindex"))
    return tuple(tool for tool in known if tool.python.exists())


def version_of(tool: Tool) -> str:
    """Version of the tool's distribution."""
    code = f"from importlib.metadata import version; print(version({tool.version!r}))"
    return subprocess.run([tool.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def _ingestd() -> Tool:
    def update(places: Places, size: int, phase: str) -> Sequence[Sequence[str]]:
        file = places.work / "ingestd.toml"
        file.write_text(_CONFIGURATION.format(size=size, root=places.root))
        command = "reindex" if phase == "smaller chunks" else "sync"
        chosen = ["--config", str(file), "--state-dir", str(places.work / "state")]
        return [[sys.executable, "-m", "ingestd", *chosen, command, "--json"]]

    def stored(places: Places) -> Stored:
        code = "import stored_points, sys; stored_points.print_all(sys.argv[1])"
        argv = [sys.executable, "-c", code, str(places.work / "state")]
        return _pairs(subprocess.run(argv, check=True, capture_output=True, text=True, cwd=HERE).stdout)

    def vectors_bytes(places: Places) -> int:
        return _bytes(places.work / "state" / "store") + _bytes(places.work / "state" / "cache" / "vectors.sqlite")

    return Tool(
        name="ingestd",
        python=Path(sys.executable),
        version="ingestd",
        update=update,
        embedded=lambda output: int(json.loads(output)["embedded"]),
        stored=stored,
        vectors_bytes=vectors_bytes,
        environment={},
    )


def _peer(name: str, key: str, version: str) -> Tool:
    python = VENVS / f"bench-{key}" / "bin" / "python"
    script = HERE / f"peer_{name.lower()}.py"

    def update(places: Places, size: int, phase: str) -> Sequence[Sequence[str]]:
        del phase
        arguments = ["--root", str(places.root), "--work", str(places.work), "--size", str(size)]
        return [[str(python), "-W", "ignore", str(script), "update", *arguments]]

    def stored(places: Places) -> Stored:
        argv = [python, "-W", "ignore", script, "stored", "--work", places.work]
        quiet = {**os.environ, **_NO_CALLS_HOME}
        found = _pairs(subprocess.run(argv, check=True, capture_output=True, text=True, env=quiet).stdout)
        return [(path.removeprefix(f"{places.root}/"), text) for path, text in found]

    return Tool(
        name=name,
        python=python,
        version=version,
        update=update,
        embedded=lambda output: int(json.loads(output.splitlines()[-1])["embedded"]),
        stored=stored,
        vectors_bytes=lambda places: _bytes(places.work / "qdrant"),
        environment=_NO_CALLS_HOME,
    )


def _pairs(output: str) -> Stored:
    return [(path, text) for path, text in json.loads(output.splitlines()[-1])]


def _bytes(place: Path) -> int:
    files = [place] if place.is_file() else place.rglob("*")
    return sum(file.lstat().st_blocks * 512 for file in files if file.is_file())
