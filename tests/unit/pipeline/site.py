"""A folder, a ledger, a store in memory and an embedder that counts, under a clock that only moves when told to."""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ingestd.chunk import ChunkOptions, chunk_stage
from ingestd.convert import ConversionCache, Conversions, ConvertOptions
from ingestd.convert.conversions import Converted
from ingestd.daemon import registered
from ingestd.daemon.state import Places
from ingestd.discover.rules import Rules
from ingestd.discover.settle import Settling
from ingestd.embed.cache import VectorCache
from ingestd.embed.embedding import Embedding
from ingestd.model.identity import Instance
from ingestd.model.point import Deletion, Generation, PayloadOverwrite, Points
from ingestd.pipeline import sync as pass_over
from ingestd.pipeline.parts import Clock, Engines, Parts, RootPlan, Stop
from ingestd.pipeline.tally import Tally
from ingestd.publish.collections import Collections
from ingestd.settings import DaemonSettings, RootSettings, Settings
from ingestd.state import documents, generations, report, roots, sources
from ingestd.state.engine import Ledger
from ingestd.state.sources import SourceRow
from ingestd.testing.counting_embedder import CountingEmbedder
from ingestd.testing.memory_store import MemoryStore, Shelf
from ingestd.wiring.segmenters import segmenter

INSTANCE = Instance("test")
_SECOND = 1_000_000_000


class Time:
    """The machine's clocks, ahead by what a test lets pass."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def wall_ns(self) -> int:
        return time.time_ns() + int(self.ahead * _SECOND)

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def clock(self) -> Clock:
        return Clock(wall_ns=self.wall_ns, monotonic=self.monotonic, random=random.Random(1).random)


class TimedStop:
    """A stop flag whose waiting lets the clock pass, and tells the test of it."""

    def __init__(self, time_passing: Time) -> None:
        self._time = time_passing
        self._set = threading.Event()
        self.waits = 0
        self.on_wait: Callable[[], None] = lambda: None

    def set(self) -> None:
        self._set.set()

    def clear(self) -> None:
        self._set.clear()

    def is_set(self) -> bool:
        return self._set.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        assert self.waits < 300, "the pass never ends"
        self.waits += 1
        self._time.ahead += max(timeout or 0.0, 0.001)
        self.on_wait()
        return self.is_set()


class WatchedStore(MemoryStore):
    """Calls a test before each write."""

    def __init__(self, shelf: Shelf, before: Callable[[str], None]) -> None:
        super().__init__(INSTANCE, shelf)
        self._before = before

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        self._before("upsert")
        super().upsert(generation, points)

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        self._before("overwrite")
        super().overwrite_payloads(generation, overwrites)

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        self._before("delete")
        super().delete(generation, deletions)

    def flush(self, generation: Generation) -> None:
        self._before("flush")
        super().flush(generation)


class WatchedConversions(Conversions):
    """Calls a test before each conversion that the cache does not hold."""

    before: Callable[[str], None]

    def convert(self, **file: Any) -> Converted:
        if not self.is_cached(file["fingerprint"], file["mime"]):
            self.before(file["name"])
        return super().convert(**file)


@dataclass
class Site:
    """One state with its folders; every ``sync`` works on what is there then."""

    directory: Path
    ledger: Ledger
    settle_seconds: float = 0.0
    on_failure: str = "keep"
    workers: int = 1
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)
    shelf: Shelf = field(default_factory=Shelf)
    options: ConvertOptions = field(default_factory=ConvertOptions)
    chunker: ChunkOptions = field(default_factory=ChunkOptions)
    settings: Settings = field(default_factory=Settings)
    before_convert: Callable[[str], None] = lambda _name: None
    before_write: Callable[[str], None] = lambda _kind: None
    between: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.time = Time()
        self.stop = TimedStop(self.time)
        self.vectors = VectorCache(self.directory / "vectors.sqlite")
        self.staging = self.directory / "staging"
        self.staging.mkdir()
        self.tally = Tally()
        self.collections = self._collections()
        self.root("docs")

    # Folders

    def root(self, name: str, path: Path | None = None, **options: Any) -> Path:
        """A configured root, in place of one of the same name."""
        folder = path or self.directory / name
        folder.mkdir(exist_ok=True)
        kept = [one for one in self.settings.roots if one.name != name]
        made = RootSettings(name=name, path=folder, **options)
        self.settings = replace(self.settings, roots=(*kept, made))
        return folder

    def unroot(self, name: str) -> None:
        kept = tuple(one for one in self.settings.roots if one.name != name)
        self.settings = replace(self.settings, roots=kept)

    def write(self, name: str, text: str, root: str = "docs") -> Path:
        path = self.directory / root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rewrite(path, text)
        return path

    def rewrite(self, path: Path, text: str) -> None:
        """Write the file now, by the test's clock: its change time, which nobody can set, is of the machine's."""
        path.write_text(text)
        os.utime(path, ns=(0, self.time.wall_ns()))

    # Work

    def register(self, folders: Sequence[Path] = ()) -> registered.Registered:
        return registered.register(self.ledger, self.settings, folders)

    def parts(self, *folders: Path) -> Parts:
        return self.parts_of(self.register(folders))

    def parts_of(self, found: registered.Registered) -> Parts:
        return Parts(
            ledger=self.ledger,
            collections=self.collections,
            instance=INSTANCE,
            staging=self.staging,
            roots={id_: self._plan(row, root) for id_, (row, root) in found.roots.items()},
            settle_seconds=self.settle_seconds,
            on_failure=self.on_failure,
            workers=self.workers,
            shutdown_seconds=5.0,
            clock=self.time.clock(),
            stop=self.stop,
            between=lambda: self.between(),  # noqa: PLW0108  a test may set another later
        )

    def sync(self) -> pass_over.Pass:
        """One pass; ``tally`` says what it did."""
        self.tally = Tally()
        self.embedder.batches.clear()
        return pass_over.sync(self.parts(), self.tally)

    def work(self, settling: Settling[int] | None = None) -> pass_over.Wait:
        return pass_over.work(
            self.parts(), self.tally, Settling[int](self.settle_seconds) if settling is None else settling
        )

    def restart(self, *, clean: bool = True) -> None:
        """End the owner, and begin another."""
        if clean:
            self.collections.close()
        self.collections = self._collections()
        self.stop.clear()

    def close(self) -> None:
        self.collections.store.close()
        self.vectors.close()
        if hasattr(self, "_conversions"):
            self._conversions.close()

    # What came of it

    def source(self, path: str, root: str = "docs") -> SourceRow:
        with self.ledger.read() as transaction:
            (row,) = [one for one in roots.all_roots(transaction) if one.name == root]
            found = sources.by_path(transaction, row.id, path.encode())
        assert found is not None
        return found

    def states(self) -> dict[str, str]:
        """State of each source, by root and path."""
        with self.ledger.read() as transaction:
            names = {row.id: row.name for row in roots.all_roots(transaction)}
            found = sources.in_state(transaction, "pending", "done", "quarantined", "gone", "held", "forgotten")
        return {f"{names[one.root_id]}/{one.path.decode('utf-8', 'replace')}": one.state for one in found}

    def root_state(self, name: str = "docs") -> str:
        with self.ledger.read() as transaction:
            return next(row.state for row in roots.all_roots(transaction) if row.name == name)

    def failed(self) -> dict[str, dict[str, Any]]:
        with self.ledger.read() as transaction:
            return {one["path"]: one for one in report.quarantined(transaction)}

    def deferred(self) -> dict[str, dict[str, Any]]:
        with self.ledger.read() as transaction:
            return {one["path"]: one for one in report.deferred(transaction, self.time.wall_ns())}

    def held(self) -> int:
        with self.ledger.read() as transaction:
            return report.held_count(transaction)

    def live(self, collection: str = "documents") -> generations.GenerationRow:
        with self.ledger.read() as transaction:
            (row,) = [
                one
                for one in generations.all_generations(transaction)
                if one.generation.collection == collection and one.state == "live"
            ]
        return row

    def payloads(self, collection: str = "documents") -> list[dict[str, Any]]:
        """Payloads of all points that the store holds."""
        store = MemoryStore(INSTANCE, self.shelf)
        names = ("path", "root", "body", "tags", "doc_version", "mime", "doc_id")
        return [dict(point.payload) for point in store.scroll(self.live(collection).generation, names)]

    def texts(self, collection: str = "documents") -> dict[str, str]:
        """Bodies in the store, joined, by root and path."""
        found: dict[str, list[str]] = {}
        for payload in self.payloads(collection):
            found.setdefault(f"{payload['root']}/{payload['path']}", []).append(payload["body"])
        return {path: " ".join(sorted(bodies)) for path, bodies in sorted(found.items())}

    def served(self) -> set[str]:
        """Paths that the ledger serves, in any live generation."""
        with self.ledger.read() as transaction:
            found: set[str] = set()
            for row in generations.all_generations(transaction):
                for document in documents.in_generation(transaction, row.id):
                    if document.version:
                        (source,) = sources.by_ids(transaction, [document.source_id])
                        found.add(source.path.decode())
        return found

    @property
    def counts(self) -> Counter[str]:
        return self.tally.counts

    # Making

    def _collections(self) -> Collections:
        store = WatchedStore(self.shelf, lambda kind: self.before_write(kind))  # noqa: PLW0108  as above
        return Collections(self.ledger, store, instance=INSTANCE, state_id="state", adopt=False)

    def _plan(self, row: roots.RootRow, root: RootSettings) -> RootPlan:
        return RootPlan(
            row=row,
            rules=Rules(include=root.include, exclude=root.exclude, recursive=root.recursive),
            follow_links=root.follow_links,
            tags=root.tags,
            settings_digest=repr((root, self.chunker, self.options, self.embedder.version)),
            engines_of=self.engines,
        )

    def engines(self) -> Engines:
        if not hasattr(self, "_made"):
            cache = ConversionCache(self.directory / "conversions", 1 << 30)
            conversions = WatchedConversions(options=self.options, cache=cache, workers=self.workers)
            conversions.before = lambda name: self.before_convert(name)  # noqa: PLW0108  as above
            self._conversions = conversions
            self._embedding = Embedding(name="counting", options={}, cache=self.vectors, embedder=self.embedder)
            self._made = True
        splitter = segmenter("punctuation")
        return Engines(
            conversions=self._conversions,
            chunk_options=self.chunker,
            chunk_stage=chunk_stage(self.chunker, splitter.name, "counting", self._embedding.max_tokens),
            segmenter=splitter,
            embedding=self._embedding,
            embedder='{"name": "counting", "options": {}}',
        )

    def renew_engines(self) -> None:
        """Have the engines made anew, as another owner would."""
        del self._made


class SiteOwner:
    """The site in the place of an :class:`ingestd.daemon.owner.Owner`."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.ledger = site.ledger
        self.places = Places(directory=site.directory / "state")
        self.wiring = SimpleNamespace(embeddings={}, embedding=lambda _made: site.engines().embedding)
        self.settings = replace(site.settings, daemon=DaemonSettings(settle_seconds=site.settle_seconds))

    @property
    def collections(self) -> Collections:
        return self.site.collections

    def register(self, folders: Sequence[Path] = ()) -> registered.Registered:
        return self.site.register(folders)

    def parts(
        self,
        found: registered.Registered,
        *,
        stop: Stop | None = None,
        between: Callable[[], None] | None = None,
    ) -> Parts:
        return replace(
            self.site.parts_of(found),
            stop=stop or self.site.stop,
            between=between or (lambda: None),
        )
