import json

import pytest

from ingestd.model.identity import CollectionName, Digest, DocumentId, Fingerprint, PointId
from ingestd.model.point import Deletion, Generation, PayloadOverwrite
from ingestd.model.source import Signature
from ingestd.state import documents, generations, intents, outcomes, report, roots, sightings, sources
from ingestd.state.documents import DocumentRow, Made, ServedVersion
from ingestd.state.engine import Ledger

DOC = DocumentId("11111111-0000-5000-8000-000000000000")
X, Y, Z = (PointId(f"0000000{n}-0000-5000-8000-000000000000") for n in "123")
MADE = Made(
    fingerprint=Fingerprint("ab" * 32), convert_digest=Digest("c"), chunk_digest=Digest("k"), facts_digest=Digest("f")
)


class Filled:
    """A ledger with a root, a source, a generation and a document."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        with ledger.write("fill") as transaction:
            self.root = roots.record(transaction, "docs", b"/docs", "documents", "configured").id
            sightings.seen(transaction, self.root, b"", {b"a": Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 1)
            source = sources.by_path(transaction, self.root, b"a")
            assert source is not None
            self.source = source
            self.generation = generations.add(transaction, physical(1), '{"name": "e"}', "live", 1)
            self.document = documents.ensure(transaction, self.generation.id, DOC, source.id)

    def do(self, function, *arguments, **more):
        with self.ledger.write("do") as transaction:
            return function(transaction, *arguments, **more)

    def row(self, generation_id: int | None = None) -> DocumentRow:
        found = self.do(documents.find, generation_id or self.generation.id, DOC)
        assert found is not None
        return found

    def serve(self, version: int, *points: PointId) -> None:
        served = self.do(documents.points, self.document.id)
        self.do(documents.set_points, self.document.id, add=set(points) - served, remove=served - set(points))
        value = ServedVersion(version=version, made=MADE, recipe="r", title="t", chunk_count=len(points))
        self.do(documents.serve, self.document.id, value, 9)


@pytest.fixture
def filled(ledger: Ledger) -> Filled:
    return Filled(ledger)


def physical(number: int) -> Generation:
    return Generation(collection=CollectionName("documents"), number=number, dimension=4, embed_digest="e")


def test_a_version_is_served_with_what_it_was_made_from(filled: Filled):
    filled.serve(3, X, Y)
    row = filled.row()
    assert (row.version, row.last_version, row.made, row.chunk_count, row.title) == (3, 3, MADE, 2, "t")
    assert filled.do(documents.points, row.id) == {X, Y}
    assert filled.do(documents.is_served, filled.generation.id, DOC, X)
    assert not filled.do(documents.is_served, filled.generation.id, DOC, Z)
    assert not filled.do(documents.is_served, filled.generation.id + 1, DOC, X)


def test_the_last_version_never_goes_down(filled: Filled):
    filled.do(documents.used_version, filled.document.id, 7)
    filled.serve(3, X)
    assert (filled.row().version, filled.row().last_version) == (3, 7)
    filled.do(documents.unserve, filled.document.id)
    assert (filled.row().version, filled.row().last_version) == (0, 7)


def test_a_document_is_dropped_only_when_nothing_is_served_owed_or_intended(filled: Filled):
    filled.serve(1, X)
    filled.do(documents.drop, filled.document.id)
    assert filled.row().version == 1
    filled.do(documents.unserve, filled.document.id)
    filled.do(intents.post, filled.document.id, 2, [Deletion(id=X, below_version=2)])
    filled.do(documents.drop, filled.document.id)
    assert filled.row().version == 0
    filled.do(intents.empty_outbox, [row.id for row in filled.do(intents.outbox)])
    filled.do(intents.open_intent, filled.document.id, 2, [Y])
    filled.do(documents.drop, filled.document.id)
    assert filled.row().last_version == 2
    filled.do(intents.close_intent, filled.document.id)
    filled.do(documents.drop, filled.document.id)
    assert filled.do(documents.find, filled.generation.id, DOC) is None


def test_a_document_that_comes_back_goes_on_above_its_old_versions(filled: Filled):
    filled.serve(5, X)
    filled.do(documents.unserve, filled.document.id)
    filled.do(documents.drop, filled.document.id)
    again = filled.do(documents.ensure, filled.generation.id, DOC, filled.source.id)
    assert (again.version, again.last_version) == (0, 5)


def test_a_document_found_in_the_store_is_made_again_above_both(filled: Filled):
    filled.serve(2, X, Y)
    filled.do(intents.open_intent, filled.document.id, 3, [Z])
    filled.do(intents.post, filled.document.id, 2, [Deletion(id=Z, below_version=2)])
    filled.do(documents.adopt, filled.document.id, {Y: 2, Z: 9})
    row = filled.row()
    assert (row.version, row.last_version, row.made.fingerprint) == (9, 9, None)
    assert filled.do(documents.points, row.id) == {Y, Z}
    assert filled.do(intents.outbox) == ()
    assert filled.do(intents.open_intents) == ()
    filled.do(documents.adopt, row.id, {})
    assert (filled.row().version, filled.row().last_version) == (0, 9)


def test_the_points_of_an_intent_that_was_never_served_stay_on_record(filled: Filled):
    filled.do(intents.open_intent, filled.document.id, 2, [X])
    filled.do(intents.open_intent, filled.document.id, 3, [Y])
    (intent,) = filled.do(intents.open_intents)
    assert (intent.version, intent.points, filled.row().last_version) == (3, (X, Y), 3)
    filled.do(intents.close_intent, filled.document.id)
    assert filled.do(intents.intended_points, filled.document.id) == frozenset()


def test_only_intents_that_nobody_will_try_again_are_idle(filled: Filled):
    filled.do(intents.open_intent, filled.document.id, 2, [X])
    assert len(filled.do(intents.open_intents)) == 1
    assert filled.do(intents.open_intents, idle_only=True) == ()
    filled.do(sightings.hold, [filled.source.id], "excluded")
    assert len(filled.do(intents.open_intents, idle_only=True)) == 1


def test_what_is_owed_comes_back_in_order_and_of_whom_it_was_asked(filled: Filled):
    payload = {"text": "ü \u2028", "meta": {"n": [1, None]}, "doc_version": 2}
    other = filled.do(generations.add, physical(2), "{}", "building", 1)
    elsewhere = filled.do(documents.ensure, other.id, DOC, filled.source.id)
    writes = [PayloadOverwrite(id=X, version=2, payload=payload), Deletion(id=Y, below_version=2)]
    filled.do(intents.post, filled.document.id, 2, writes)
    filled.do(intents.post, elsewhere.id, 1, [Deletion(id=Z, below_version=1)])
    everything = filled.do(intents.outbox)
    assert [row.write for row in everything] == [*writes, Deletion(id=Z, below_version=1)]
    assert [row.generation_id for row in everything] == [filled.generation.id, filled.generation.id, other.id]
    assert [row.write for row in filled.do(intents.outbox, document_ids=[filled.document.id])] == writes
    assert len(filled.do(intents.outbox, generation_id=other.id)) == 1
    assert len(filled.do(intents.outbox, limit=1)) == 1
    filled.do(intents.empty_outbox, [row.id for row in everything[:2]])
    assert not filled.do(intents.is_outbox_empty)
    filled.do(intents.empty_outbox, [everything[2].id])
    assert filled.do(intents.is_outbox_empty)


def test_two_generations_may_hold_the_same_document_and_ids(filled: Filled):
    filled.serve(1, X)
    other = filled.do(generations.add, physical(2), "{}", "building", 1)
    second = filled.do(documents.ensure, other.id, DOC, filled.source.id)
    filled.do(documents.set_points, second.id, add=[X], remove=[])
    assert [row.id for row in filled.do(documents.of_source, filled.source.id)] == [filled.document.id, second.id]
    filled.do(generations.retire, other.id)
    filled.do(generations.drop, other.id)
    assert filled.do(documents.points, filled.document.id) == {X}
    assert [row.id for row in filled.do(documents.of_source, filled.source.id)] == [filled.document.id]


def test_one_generation_is_live_and_one_is_being_built(filled: Filled):
    name = CollectionName("documents")
    new = filled.do(generations.add, physical(2), "{}", "building", 1)
    assert (filled.do(generations.live, name), filled.do(generations.building, name)) == (filled.generation, new)
    filled.do(generations.switch, filled.generation.id, new.id)
    live = filled.do(generations.live, name)
    assert live is not None
    assert live.id == new.id
    assert filled.do(generations.building, name) is None
    assert [row.state for row in filled.do(generations.all_generations)] == ["retired", "live"]
    with pytest.raises(LookupError):
        filled.do(generations.by_id, 99)


def test_the_report_counts_what_is_served_and_what_waits(filled: Filled):
    filled.serve(1, X, Y)
    filled.do(intents.post, filled.document.id, 2, [Deletion(id=Z, below_version=2)])
    filled.do(outcomes.defer, filled.source, 10**18, "away")
    with filled.ledger.read() as transaction:
        (root,) = report.roots(transaction)
        assert (root["documents"], root["chunks"], root["pending"], root["path"]) == (1, 2, 1, "/docs")
        assert report.queues(transaction, 5) == {"due": 0, "deferred": 1, "removals": 0, "held": 0, "outbox": 1}
        assert report.queues(transaction, 10**18)["due"] == 1
        (generation,) = report.all_generations(transaction)
        assert (generation["points"], generation["embedder"]) == (2, "e")
        (deferred,) = report.deferred(transaction, 5)
        assert (deferred["path"], deferred["reason"], deferred["retry_at"]) == ("a", "away", "2001-09-09T01:46:40Z")
        json.dumps([root, generation, deferred])
