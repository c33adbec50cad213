"""A folder, a state, and a program that owns both for the length of one call."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ingestd.daemon import answer
from ingestd.daemon.owner import Owner, Ownership
from ingestd.daemon.passes import Hooks
from ingestd.settings import DaemonSettings, EmbedderSettings, RootEmbedderSettings, RootSettings, Settings

SETTINGS = Settings(
    embedder=EmbedderSettings(name="hash"),
    daemon=DaemonSettings(settle_seconds=0.0),
)


@dataclass
class Program:
    """Runs commands on one state, each as a process of its own would."""

    state: Path
    folder: Path
    settings: Settings = SETTINGS
    adopt: bool = False

    def owner(self) -> Owner:
        ownership = Ownership(settings=self.settings, configuration=None, state_dir=self.state, adopt=self.adopt)
        return Owner(ownership, threading.Event())

    def sync(self, *folders: Path) -> dict[str, Any]:
        named = [os.fspath(folder) for folder in folders or (self.folder,)]
        with self.owner() as owner:
            return answer.work(owner, "sync", {"folders": named}, Hooks())

    def reindex(self, **arguments: Any) -> dict[str, Any]:
        with self.owner() as owner:
            return answer.work(owner, "reindex", arguments, Hooks())

    def read(self, command: str, **arguments: Any) -> dict[str, Any]:
        with self.owner() as owner:
            parts = owner.parts(owner.register())
            owner.collections.ready_all(parts.clock.wall_ns())
            return answer.read(owner, parts, command, arguments, {"running": False})

    def change(self, command: str, **arguments: Any) -> dict[str, Any]:
        with self.owner() as owner:
            return answer.change(owner.parts(owner.register()), command, arguments)

    def search(self, query: str, limit: int = 10, **narrowed: Any) -> list[dict[str, Any]]:
        return self.read("search", query=query, limit=limit, **narrowed)["hits"]

    def texts(self) -> dict[str, list[str]]:
        """Bodies served, by path."""
        found: dict[str, list[str]] = {}
        for hit in self.search("anything", limit=1000):
            found.setdefault(hit["path"], []).append(hit["body"])
        return {path: sorted(bodies) for path, bodies in found.items()}

    def with_settings(self, **changes: Any) -> "Program":
        return replace(self, settings=replace(self.settings, **changes))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "docs"
    folder.mkdir()
    return Program(state=tmp_path / "state", folder=folder)


@pytest.fixture
def write(program: Program) -> Callable[..., Path]:
    def write(name: str | bytes, text: str = "", *, data: bytes | None = None) -> Path:
        path = program.folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if data is None else data)
        return path

    return write


def sections(*names: str) -> str:
    """A Markdown file of one long enough section for each name."""
    return "\n".join(f"# {name}\n\n" + f"{name} is what this paragraph is about. " * 40 + "\n" for name in names)


__all__ = ["Iterator", "RootEmbedderSettings", "RootSettings", "json"]
