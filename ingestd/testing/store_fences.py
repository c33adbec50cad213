"""What every store must do when it is written to."""

# ruff: noqa: D102  # the names of tests are sentences

from pathlib import Path

from ingestd.model.identity import RootName, document_id
from ingestd.model.point import Deletion, PayloadOverwrite
from ingestd.testing.store_opening import GENERATION, OURS, StoreOpening, made_points, payload, point_ids, texts, unit


class StoreFences(StoreOpening):
    """Writes are fenced by ``doc_version``; each may be repeated."""

    def test_every_write_may_be_repeated(self, tmp_path: Path) -> None:
        ids = point_ids(3)
        written = made_points(1, ids, unit(0, 1, 2))
        overwrite = PayloadOverwrite(id=ids[0], version=2, payload=payload(2, written.document, text="kept"))
        with self.opened(tmp_path) as store:
            for _ in range(2):
                store.upsert(GENERATION, [written, written])
                store.overwrite_payloads(GENERATION, [overwrite, overwrite])
                store.delete(GENERATION, [Deletion(id=ids[1], below_version=2)] * 2)
                store.flush(GENERATION)
                found = {point.id: point.payload["doc_version"] for point in store.retrieve(GENERATION, ids)}
                # The second round's upsert brings the deleted point back, as a repeated swap would; its delete follows.
                assert found == {ids[0]: 2, ids[2]: 1}

    def test_an_older_upsert_loses(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(5, point_ids(1), unit(0), text="new")])
            store.upsert(GENERATION, [made_points(4, point_ids(2), unit(1, 2), text="old")])
            assert texts(store, point_ids(2)) == ["new", "old"]
            assert next(point.vector for point in store.scroll(GENERATION, (), vectors=True)) == tuple(unit(0)[0])

    def test_an_equal_upsert_changes_nothing(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(5, point_ids(1), unit(0), text="first")])
            store.upsert(GENERATION, [made_points(5, point_ids(1), unit(1), text="second")])
            assert texts(store, point_ids(1)) == ["first"]

    def test_a_newer_upsert_wins(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(5, point_ids(1), unit(0), text="old")])
            store.upsert(GENERATION, [made_points(6, point_ids(1), unit(1), text="new")])
            assert texts(store, point_ids(1)) == ["new"]
            assert [point.vector for point in store.scroll(GENERATION, (), vectors=True)] == [tuple(unit(1)[0])]

    def test_versions_may_be_mixed_in_one_upsert(self, tmp_path: Path) -> None:
        first, second, third = point_ids(3)
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(3, [first, second], unit(0, 1), text="three")])
            mixed = [
                made_points(2, [first], unit(2), text="two"),
                made_points(4, [second], unit(3), text="four"),
                made_points(1, [third], unit(4), text="one"),
            ]
            store.upsert(GENERATION, mixed)
            assert texts(store, [first, second, third]) == ["three", "four", "one"]

    def test_an_overwrite_keeps_the_vector(self, tmp_path: Path) -> None:
        (point,) = point_ids(1)
        with self.opened(tmp_path) as store:
            written = made_points(1, [point], unit(3), gone="with the overwrite")
            store.upsert(GENERATION, [written])
            new = payload(2, written.document, text="moved", path="c/d.md")
            store.overwrite_payloads(GENERATION, [PayloadOverwrite(id=point, version=2, payload=new)])
            assert [found.payload for found in store.retrieve(GENERATION, [point])] == [new]
            assert [found.vector for found in store.scroll(GENERATION, (), vectors=True)] == [tuple(unit(3)[0])]

    def test_an_older_or_equal_overwrite_loses(self, tmp_path: Path) -> None:
        (point,) = point_ids(1)
        with self.opened(tmp_path) as store:
            written = made_points(5, [point], unit(0), text="stays")
            store.upsert(GENERATION, [written])
            for version in (4, 5):
                late = payload(version, written.document, text="late")
                store.overwrite_payloads(GENERATION, [PayloadOverwrite(id=point, version=version, payload=late)])
            assert texts(store, [point]) == ["stays"]

    def test_an_overwrite_of_a_missing_point_makes_none(self, tmp_path: Path) -> None:
        (point,) = point_ids(1)
        new = payload(2, document_id(OURS, RootName("docs"), b"x"))
        with self.opened(tmp_path) as store:
            store.overwrite_payloads(GENERATION, [PayloadOverwrite(id=point, version=2, payload=new)])
            assert store.count(GENERATION) == 0

    def test_a_delete_takes_only_versions_below_its_own(self, tmp_path: Path) -> None:
        ids = point_ids(3)
        with self.opened(tmp_path) as store:
            for version, point in zip((1, 2, 3), ids, strict=True):
                store.upsert(GENERATION, [made_points(version, [point], unit(0))])
            store.delete(GENERATION, [Deletion(id=point, below_version=2) for point in ids])
            assert [point.id for point in store.scroll(GENERATION, ())] == list(ids[1:])
            mixed = [Deletion(id=ids[1], below_version=2), Deletion(id=ids[2], below_version=4)]
            store.delete(GENERATION, mixed)
            assert [point.id for point in store.scroll(GENERATION, ())] == [ids[1]]
