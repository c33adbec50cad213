"""What the pipeline works with, handed to it by the wiring."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ingestd.discover.rules import Rules
from ingestd.model.identity import CollectionName, Instance, RootName
from ingestd.model.recipe import Recipe, Stage
from ingestd.ports.segmenter import Segmenter
from ingestd.publish.collections import Collections, Space
from ingestd.state.engine import Ledger
from ingestd.state.roots import RootRow

if TYPE_CHECKING:
    from ingestd.chunk import ChunkOptions
    from ingestd.convert import Conversions
    from ingestd.embed.embedding import Embedding


class Stop(Protocol):
    """Says whether the work in hand should be given up."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until told to stop, at most ``timeout`` seconds; whether to stop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """What makes points of a root's files."""

    conversions: "Conversions"
    chunk_options: "ChunkOptions"
    chunk_stage: Stage
    segmenter: Segmenter
    embedding: "Embedding"
    embedder: str
    """JSON: name and options of the embedder, kept with the collection so that queries can be embedded for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootPlan:
    """A root with all that decides what becomes of its files."""

    row: RootRow
    rules: Rules
    follow_links: bool
    tags: tuple[str, ...]
    settings_digest: str
    """Of all settings that a recipe is made from, and of the program's version: while it stays, so does the recipe."""
    engines_of: Callable[[], Engines]
    """Makes the engines at its first call: a pass that finds nothing to do imports none of them."""

    @property
    def name(self) -> RootName:
        """Name of the root."""
        return self.row.name

    @property
    def collection(self) -> CollectionName:
        """Collection that its documents go to."""
        return self.row.collection

    @property
    def engines(self) -> Engines:
        """The engines."""
        return self.engines_of()

    @property
    def conversions(self) -> "Conversions":
        """Converters of the root's files."""
        return self.engines.conversions

    @property
    def embedding(self) -> "Embedding":
        """Embedder of the root's chunks."""
        return self.engines.embedding

    @property
    def space(self) -> Space:
        """Vector space that its chunks are embedded into."""
        engines = self.engines
        return Space(stage=engines.embedding.stage, dimension=engines.embedding.dimension, embedder=engines.embedder)

    def recipe(self, mime: str) -> Recipe:
        """Recipe for a file of this type; raises ``UnsupportedType``."""
        engines = self.engines
        return Recipe(
            convert=engines.conversions.stage_for(mime), chunk=engines.chunk_stage, embed=engines.embedding.stage
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time, handed in so that tests own it."""

    wall_ns: Callable[[], int]
    monotonic: Callable[[], float]
    random: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that one owner of a state works with."""

    ledger: Ledger
    collections: Collections
    instance: Instance
    staging: Path
    """Folder for private copies."""
    roots: Mapping[int, RootPlan]
    """By the id of their row."""
    settle_seconds: float
    on_failure: str
    """``keep`` or ``retract``: what becomes of the served version of a document whose new one fails."""
    workers: int
    shutdown_seconds: float
    """After a stop, how long a conversion in hand may go on before it is killed."""
    clock: Clock
    stop: Stop
    between: Callable[[], None] = lambda: None
    """Called by the thread that works, whenever nothing is half done: there the daemon answers what it was asked."""
