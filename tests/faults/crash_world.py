"""A folder, a ledger and a store that can be killed at any failpoint, restarted, and compared with the folder."""

import copy
import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import event

from ingestd import failpoints
from ingestd.errors import TransientError
from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.model.identity import (
    CollectionName,
    Digest,
    DocumentId,
    Fingerprint,
    Instance,
    PointId,
    RootName,
    document_id,
    text_hash,
)
from ingestd.model.point import Generation, SearchFilter, StoredPoint
from ingestd.model.recipe import Recipe, Stage
from ingestd.model.source import Signature, SourceKey
from ingestd.ports.store import Store
from ingestd.publish import payload as payloads
from ingestd.publish import points, search, swap
from ingestd.publish.collections import Collections, Space
from ingestd.publish.payload import Facts, Origin
from ingestd.state import documents, generations, intents, outcomes, roots, sightings, sources
from ingestd.state.documents import Made
from ingestd.state.engine import Ledger
from ingestd.state.generations import GenerationRow
from ingestd.state.known import KnownInLedger
from ingestd.state.schema import migrate
from ingestd.state.sources import SourceRow
from ingestd.testing.memory_store import MemoryStore, Shelf

INSTANCE = Instance("crashing")
ROOT = RootName("folder")
COLLECTION = CollectionName("documents")
DIMENSION = 4
NOW_NS = 1_800_000_000_000_000_000
EVERYTHING = SearchFilter()
SPACE = Space(stage=Stage(name="test", version=1), dimension=DIMENSION, embedder='{"name": "test"}')
RECIPE = Recipe(convert=Stage(name="c", version=1), chunk=Stage(name="k", version=1), embed=SPACE.stage)

Texts = tuple[str, ...]
Folder = dict[bytes, Texts]


class Violation(AssertionError):
    """A check that failed; ``check`` is its name."""

    def __init__(self, check: str, what: str) -> None:
        super().__init__(f"{check}: {what}")
        self.check = check


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


@dataclass(frozen=True, slots=True)
class File:
    """What stands at a path: its texts, and a number that every write raises."""

    texts: Texts
    written: int


class World:
    """One state directory with its folder.

    Parameters
    ----------
    directory
        Of the ledger; made from an empty one.
    open_store
        Opens the store anew, as a new process would.
    """

    def __init__(self, directory: Path, open_store: "Callable[[World], Store] | None" = None) -> None:
        self.directory = directory
        self.shelf = Shelf()
        self.disk: dict[bytes, File] = {}
        self.readable: dict[bytes, set[Texts]] = {}
        """Versions that a reader may find whole; more than one while a document changes."""
        self.watched = False
        self.exact = True
        """Whether a search must show exactly one version; after a loss it may show more than one."""
        self._open_store = open_store or (lambda world: MemoryStore(INSTANCE, world.shelf))
        self._writes = 0
        self.ledger: Ledger
        self.store: Store
        self.collections: Collections
        directory.mkdir(parents=True, exist_ok=True)

    # The folder

    def write(self, path: bytes, *texts: str) -> None:
        """Write a file."""
        self._writes += 1
        self.disk[path] = File(texts, self._writes)

    def remove(self, path: bytes) -> None:
        """Remove a file."""
        self.disk.pop(path, None)

    def set_folder(self, folder: Mapping[bytes, Texts]) -> None:
        """Make the folder hold these texts; a file that holds its texts already is not touched."""
        for path in set(self.disk) - set(folder):
            self.remove(path)
        for path, texts in folder.items():
            if path not in self.disk or self.disk[path].texts != texts:
                self.write(path, *texts)

    # The process

    @property
    def file(self) -> Path:
        return self.directory / "ledger.sqlite"

    def start(self) -> list[Any]:
        """Start as the owner of the state does; gives what was repaired."""
        if not self.file.exists():
            shutil.copy(template(self.directory.parent), self.file)
        self.ledger = opened(self.file)
        self.store = self._open_store(self)
        self.collections = Collections(self.ledger, self.store, instance=INSTANCE, state_id="s", adopt=False)
        self.watched = True
        try:
            return self.collections.ready_all(NOW_NS) if self.collections.is_suspect() else []
        finally:
            self.watched = False

    def kill(self, *, power: bool = False, chance: Random | None = None) -> None:
        """End without a clean stop; with ``power``, what was not flushed is gone, or some of it by ``chance``."""
        self.ledger.close()
        if power:
            lose_power(self.shelf, chance)
        if not isinstance(self.store, MemoryStore):
            self.store.close()

    def stop(self) -> None:
        """End cleanly."""
        self.collections.close()
        self.ledger.close()

    def scan(self) -> None:
        """State in the ledger what the folder holds."""
        with self.ledger.write("root") as transaction:
            row = roots.record(transaction, ROOT, b"/folder", COLLECTION, "configured")
        known = KnownInLedger(self.ledger, row.id)
        before = {joined(d, n): s for d in known.directories() for n, s in known.in_directory(d).items()}
        known.close()
        new = {path: signature(file) for path, file in self.disk.items() if before.get(path) != signature(file)}
        gone = set(before) - set(self.disk)
        for path in new:
            served = self.readable.setdefault(path, {()})
            served.add(self.disk[path].texts)
        for path in gone:
            self.readable.setdefault(path, {()}).add(())
        with self.ledger.write("scan") as transaction:
            for path, found in new.items():
                sightings.seen(transaction, row.id, directory_of(path), {name_of(path): found}, NOW_NS)
            for path in gone:
                sightings.lost(transaction, row.id, directory_of(path), [name_of(path)], NOW_NS)

    def work(self) -> None:
        """Publish what is pending, retire what is gone: until nothing is due."""
        for _ in range(5):
            self._lose_missing()
            with self.ledger.read() as transaction:
                due = sources.due(transaction, NOW_NS, 100, [row.id for row in roots.all_roots(transaction)])
                gone = sources.removals(transaction)
            if not due and not gone:
                self.collections.settle(NOW_NS)
                return
            if due:
                self._publish(due)
            if gone:
                self.collections.ready_all(NOW_NS)
                swap.retire(self.ledger, self.store, gone)
        raise Violation("quiet", "there is work left after five passes")

    def sync(self) -> None:
        """Scan, then work."""
        self.watched = True
        try:
            self.scan()
            self.work()
        finally:
            self.watched = False

    def _lose_missing(self) -> None:
        with self.ledger.read() as transaction:
            pending = sources.in_state(transaction, "pending")
        for source in pending:
            if source.path not in self.disk:
                with self.ledger.write("lost") as transaction:
                    sightings.lost(
                        transaction, source.root_id, directory_of(source.path), [name_of(source.path)], NOW_NS
                    )
            elif source.signature != signature(self.disk[source.path]):
                with self.ledger.write("look") as transaction:
                    sightings.look_again(transaction, source, signature(self.disk[source.path]), NOW_NS)

    def _publish(self, due: tuple[SourceRow, ...]) -> None:
        generation = self.collections.target(COLLECTION, SPACE, NOW_NS)
        with self.ledger.read() as transaction:
            # The owner's repair may have found them changed.
            due = tuple(one for one in sources.by_ids(transaction, [one.id for one in due]) if one.state == "pending")
        with self.ledger.write("claim") as transaction:
            outcomes.claim(transaction, [source.id for source in due])
        made = [self._make(source, generation) for source in due if source.path in self.disk]
        changed = [one for one in made if not self._is_served(one)]
        with self.ledger.write("unchanged") as transaction:
            for one in made:
                if one not in changed:
                    outcomes.done(transaction, one.source)
        if changed:
            swap.publish(self.ledger, self.store, changed, NOW_NS)

    def _make(self, source: SourceRow, generation: GenerationRow) -> swap.NewVersion:
        file = self.disk[source.path]
        source = replace(source, fingerprint=fingerprint(file.texts), mime="text/plain")
        return version_of(source, generation, file)

    def _is_served(self, new: swap.NewVersion) -> bool:
        with self.ledger.read() as transaction:
            row = documents.find(transaction, new.generation.id, new.origin.doc_id)
        return row is not None and row.version > 0 and row.made == new.made

    # What readers see, and what must be true

    def check_readers(self, *, searching: bool = False) -> None:
        """Hold the store, and what a search would give of it, as they are at this moment, to whole versions.

        Parameters
        ----------
        searching
            Really search; else the ledger's served points that the store holds are taken for what a search finds.
        """
        served = read_served(self.file)
        if served is None or served.generation.name not in self.store.generations():
            return
        stored = {
            point.id: int(point.payload["doc_version"])
            for point in self.store.scroll(served.generation, ("doc_version",))
        }
        found = self._hits() if searching else served.points.keys() & stored.keys()
        for path, versions in self.readable.items():
            wanted = [frozenset(ids_of(path, texts)) for texts in versions]
            if not any(ids <= stored.keys() for ids in wanted):
                raise Violation("reader", f"the store holds no whole version of {path!r}")
            hits = found & frozenset().union(*wanted)
            if not any(ids <= hits for ids in wanted) or (self.exact and frozenset(hits) not in wanted):
                raise Violation("search", f"a search finds {len(hits)} points of {path!r}, no whole version")
        if self.exact and any(stored.get(id_, 0) > version for id_, version in served.points.items()):
            raise Violation("payload", "a served point carries the payload of a version that is not served")

    def _hits(self) -> set[PointId]:
        with self.ledger.read() as transaction:
            row = generations.live(transaction, COLLECTION)
        assert row is not None
        hits = search.search(self.ledger, self.store, row, vector("anything"), 1000, EVERYTHING)
        return {hit["id"] for hit in hits}

    def check_readers_at_rest(self) -> None:
        """Hold what a reader sees while nothing runs to whole versions."""
        self.ledger = opened(self.file)
        self.store = self._open_store(self)
        try:
            self.check_readers(searching=True)
        finally:
            self.ledger.close()
            if not isinstance(self.store, MemoryStore):
                self.store.close()

    def check_quiet(self) -> None:
        """Hold ledger and store to the folder, point by point."""
        with self.ledger.read() as transaction:
            row = generations.live(transaction, COLLECTION)
            if row is None:
                if self.disk:
                    raise Violation("quiet", "there is no collection")
                return
            served = {document.doc_id: document for document in documents.in_generation(transaction, row.id)}
            owed = intents.outbox(transaction)
            opened_intents = intents.open_intents(transaction)
            unfinished = sources.in_state(transaction, "pending", "gone", "quarantined", "held")
        stored = {point.id: point for point in self.store.scroll(row.generation, ALL_FIELDS, vectors=True)}
        for path, file in self.disk.items():
            self._check_document(path, file, row, served, stored)
        if stored:
            raise Violation("orphans", f"{len(stored)} points belong to no file, such as {next(iter(stored.values()))}")
        if owed or opened_intents or unfinished:
            raise Violation("quiet", f"owed {owed}, intents {opened_intents}, unfinished {unfinished}")
        if len(served) != len(self.disk):
            raise Violation("ghosts", f"{len(served)} documents for {len(self.disk)} files")
        self.readable = {path: {file.texts} for path, file in self.disk.items()}
        self.exact = True
        self.check_readers(searching=True)

    def _check_document(
        self,
        path: bytes,
        file: File,
        row: GenerationRow,
        served: Mapping[DocumentId, documents.DocumentRow],
        stored: dict[PointId, StoredPoint],
    ) -> None:
        doc_id = document_id(INSTANCE, ROOT, path)
        if doc_id not in served:
            raise Violation("lost", f"{path!r} is not served")
        document = served[doc_id]
        source = SourceRow(
            id=document.source_id,
            root_id=1,
            path=path,
            signature=signature(file),
            looked_ns=0,
            fingerprint=fingerprint(file.texts),
            mime="text/plain",
            state="done",
            reason=None,
            confirmed=False,
            successor_id=None,
            seq=0,
            attempts=0,
            crashes=0,
        )
        wanted = version_of(source, row, file)
        ids = ids_of(path, file.texts)
        for id_, chunk in zip(ids, wanted.chunks, strict=True):
            found = stored.pop(id_, None)
            if found is None:
                raise Violation("lost", f"a point of {path!r} is missing")
            expected = payloads.payload(chunk, wanted.origin, document.version, NOW_NS)
            if dict(found.payload) != expected:
                raise Violation("payload", f"{path!r}: {differing(found.payload, expected)}")
            assert found.vector is not None
            if not np.allclose(found.vector, vector(chunk.text), atol=1e-5):
                raise Violation("vector", f"{path!r} has another vector")
        with self.ledger.read() as transaction:
            if documents.points(transaction, document.id) != frozenset(ids):
                raise Violation("ledger", f"the ledger serves other points of {path!r} than it should")


@dataclass(frozen=True, slots=True)
class Served:
    """What the ledger says that readers see."""

    generation: Generation
    points: Mapping[PointId, int]
    """Each with the version of its document."""


def read_served(file: Path) -> Served | None:
    """What the ledger serves, read without the code under test."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        row = connection.execute(
            "SELECT id, number, dimension, embed_digest FROM generation WHERE state = 'live'"
        ).fetchone()
        if row is None:
            return None
        points_of = connection.execute(
            "SELECT point.id, version FROM point JOIN document ON document.id = document_id WHERE generation_id = ?",
            (row[0],),
        ).fetchall()
    generation = Generation(collection=COLLECTION, number=row[1], dimension=row[2], embed_digest=row[3])
    return Served(generation, {PointId(str(UUID(bytes=id_))): version for id_, version in points_of})


def version_of(source: SourceRow, generation: GenerationRow, file: File) -> swap.NewVersion:
    """The version that a file makes."""
    chunks = tuple(chunk_of(index, text) for index, text in enumerate(file.texts))
    doc_id = document_id(INSTANCE, ROOT, source.path)
    facts = Facts(key=SourceKey(ROOT, source.path), mime="text/plain", modified_ns=file.written * 10**9, tags=("t",))
    ids = points.point_ids(chunks, doc_id, SPACE.stage.digest)
    return swap.NewVersion(
        source=source,
        generation=generation,
        origin=Origin(
            instance=INSTANCE,
            doc_id=doc_id,
            fingerprint=fingerprint(file.texts),
            facts=facts,
            recipe=RECIPE,
            document=Document(title="t", markdown="", blocks=(), converter="c/1"),
            chunk_count=len(chunks),
        ),
        made=Made(
            fingerprint=fingerprint(file.texts),
            convert_digest=RECIPE.convert.digest,
            chunk_digest=RECIPE.chunk.digest,
            facts_digest=Digest(facts.digest),
        ),
        chunks=chunks,
        ids=ids,
        vectors=MappingProxyType({id_: vector(chunk.text) for id_, chunk in zip(ids, chunks, strict=True)}),
    )


def chunk_of(index: int, text: str) -> Chunk:
    """A chunk of that text."""
    return Chunk(
        text=text, body=text, title="t", char_start=0, char_end=len(text), index=index, n_chars=len(text), n_tokens=1
    )


@cache
def ids_of(path: bytes, texts: Texts) -> tuple[PointId, ...]:
    """Ids of the points of a version, by the rule, whatever the code under test does."""
    return _POINT_IDS(
        tuple(chunk_of(index, text) for index, text in enumerate(texts)),
        document_id(INSTANCE, ROOT, path),
        SPACE.stage.digest,
    )


_POINT_IDS = points.point_ids
ALL_FIELDS = (
    "path_b64",
    *payloads.payload(
        chunk_of(0, "x"),
        Origin(
            instance=INSTANCE,
            doc_id=DocumentId("x"),
            fingerprint=Fingerprint("x"),
            facts=Facts(key=SourceKey(ROOT, b"x"), mime="", modified_ns=0, tags=()),
            recipe=RECIPE,
            document=Document(title="t", markdown="", blocks=()),
            chunk_count=1,
        ),
        1,
        NOW_NS,
    ),
)


def vector(text: str) -> np.ndarray:
    """Unit vector drawn from the text."""
    row = np.random.default_rng(int(text_hash(text)[:15], 16)).normal(size=DIMENSION)
    return (row / np.linalg.norm(row)).astype(np.float32)


def signature(file: File) -> Signature:
    """Signature of a file: every write changes it."""
    return Signature(size=sum(map(len, file.texts)), mtime_ns=file.written, ctime_ns=file.written, inode=file.written)


def fingerprint(texts: Texts) -> Fingerprint:
    """Fingerprint of a file."""
    return Fingerprint(hashlib.sha256("\0".join(texts).encode()).hexdigest())


def directory_of(path: bytes) -> bytes:
    """Directory of a path."""
    return path.rpartition(b"/")[0]


def name_of(path: bytes) -> bytes:
    """Name of a path."""
    return path.rpartition(b"/")[2]


def joined(directory: bytes, name: bytes) -> bytes:
    """Path of a name in a directory."""
    return directory + b"/" + name if directory else name


def differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that differ."""
    return {k: (found.get(k), expected.get(k)) for k in {*found, *expected} if found.get(k) != expected.get(k)}


def lose_power(shelf: Shelf, chance: Random | None = None) -> None:
    """Forget what was not flushed: all of it, or each point's writes by chance."""
    if chance is None:
        shelf.lose_power()
        return
    for collection in shelf.collections.values():
        for id_ in {*collection.points, *collection.durable}:
            if chance.random() < 0.5:
                if id_ in collection.durable:
                    collection.points[id_] = collection.durable[id_]
                else:
                    collection.points.pop(id_, None)


def opened(file: Path) -> Ledger:
    """Ledger that does not wait for the disk: nothing here cuts the power of a file."""
    ledger = Ledger(file)
    event.listen(ledger._writer, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    return ledger


def template(directory: Path) -> Path:
    """An empty ledger, migrated once."""
    file = directory / "template.sqlite"
    if not file.exists():
        ledger = opened(file)
        migrate(ledger)
        ledger.close()
    return file


@dataclass(slots=True)
class Snapshot:
    """A state at rest, to go back to."""

    ledger: bytes | None
    shelf: Shelf
    disk: dict[bytes, File]
    readable: dict[bytes, set[Texts]]
    writes: int


def snapshot(world: World) -> Snapshot:
    """State of a world that is not running."""
    return Snapshot(
        ledger=world.file.read_bytes() if world.file.exists() else None,
        shelf=copy.deepcopy(world.shelf),
        disk=dict(world.disk),
        readable=copy.deepcopy(world.readable),
        writes=world._writes,
    )


def restore_ledger(world: World, earlier: Snapshot) -> None:
    """Put the ledger back."""
    for file in world.directory.glob("ledger.sqlite*"):
        file.unlink()
    if earlier.ledger is not None:
        world.file.write_bytes(earlier.ledger)


def restore(world: World, earlier: Snapshot) -> None:
    """Put everything back."""
    restore_ledger(world, earlier)
    world.shelf = copy.deepcopy(earlier.shelf)
    world.disk = dict(earlier.disk)
    world.readable = copy.deepcopy(earlier.readable)
    world._writes = earlier.writes
    world.exact = True


@contextmanager
def killed_at(nth: int, world: World | None = None, *, watch: bool = True) -> Iterator[list[str]]:
    """Raise :class:`Killed` at the nth failpoint; at each one reached, hold the world's readers to whole versions.

    Gives the names reached, in order.
    """
    reached: list[str] = []

    def at(name: str) -> None:
        reached.append(name)
        if world is not None and watch and world.watched:
            world.watched = False
            try:
                world.check_readers()
            finally:
                world.watched = True
        if len(reached) == nth:
            raise Killed(name)

    failpoints.arm("", reached=at)
    try:
        yield reached
    finally:
        failpoints.arm("")


def survives(world: World, action: Callable[[], object]) -> bool:
    """Whether the action ends without the process being killed or the store failing."""
    try:
        action()
    except (Killed, TransientError):
        return False
    return True
