"""What every store must give back."""

# ruff: noqa: D102  # the names of tests are sentences

from pathlib import Path
from typing import Any

import numpy as np

from ingestd.model.point import SearchFilter
from ingestd.testing.store_opening import DIMENSION, EVERYTHING, GENERATION, StoreOpening, made_points, point_ids, unit


class StoreReads(StoreOpening):
    """Search, scroll, retrieve, count."""

    def test_points_come_back_as_they_were_written(self, tmp_path: Path) -> None:
        ids = point_ids(2)
        written = made_points(1, ids, unit(0, 1))
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [written])
            store.flush(GENERATION)
        with self.opened(tmp_path) as store:
            found = {point.id: point.payload for point in store.retrieve(GENERATION, [*ids, *point_ids(1, first=9)])}
            assert found == dict(zip(ids, written.payloads, strict=True))
            assert store.count(GENERATION) == 2

    def test_search_gives_the_nearest_first(self, tmp_path: Path) -> None:
        vectors = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0]], dtype=np.float32)
        vectors = np.pad(vectors, ((0, 0), (0, DIMENSION - 2)))
        ids = point_ids(4)
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(1, ids, vectors)])
            hits = store.search(GENERATION, vectors[0], 3, EVERYTHING)
            assert [hit.id for hit in hits] == [ids[0], ids[1], ids[2]]
            assert np.allclose([hit.score for hit in hits], [1, 0.6, 0], atol=1e-5)
            assert hits[0].payload == made_points(1, ids, vectors).payloads[0]

    def test_search_narrows_by_root_path_and_every_tag(self, tmp_path: Path) -> None:
        documents: dict[str, dict[str, Any]] = {
            "a/b.md": {"tags": ["red", "blue"]},
            "a/b/c.md": {"tags": ["red"]},
            "a/bc.md": {"tags": []},
            "z.md": {"root": "other", "tags": ["blue"]},
        }
        with self.opened(tmp_path) as store:
            for number, (path, more) in enumerate(documents.items()):
                store.upsert(GENERATION, [made_points(1, point_ids(1, first=number), unit(number), path=path, **more)])

            def paths(narrowed: SearchFilter) -> set[str]:
                hits = store.search(GENERATION, unit(0)[0], 10, narrowed)
                return {str(hit.payload["path"]) for hit in hits}

            assert paths(EVERYTHING) == set(documents)
            assert paths(SearchFilter(root="docs")) == {"a/b.md", "a/b/c.md", "a/bc.md"}
            assert paths(SearchFilter(path_prefix="a")) == {"a/b.md", "a/b/c.md", "a/bc.md"}
            assert paths(SearchFilter(path_prefix="a/b")) == paths(SearchFilter(path_prefix="a/b/")) == {"a/b/c.md"}
            assert paths(SearchFilter(path_prefix="a/b.md")) == {"a/b.md"}
            assert paths(SearchFilter(tags=("red",))) == {"a/b.md", "a/b/c.md"}
            assert paths(SearchFilter(tags=("red", "blue"))) == {"a/b.md"}
            assert paths(SearchFilter(root="docs", path_prefix="a/b", tags=("red",))) == {"a/b/c.md"}
            assert paths(SearchFilter(root="nowhere")) == set()

    def test_scroll_gives_the_fields_named_in_the_order_of_ids(self, tmp_path: Path) -> None:
        ids = point_ids(30)
        with self.opened(tmp_path) as store:
            for point in reversed(ids):
                store.upsert(GENERATION, [made_points(1, [point], unit(int(point[:8], 16) % DIMENSION))])
            found = list(store.scroll(GENERATION, ("doc_id", "doc_version"), vectors=True))
            assert [point.id for point in found] == list(ids)
            document = made_points(1, ids[:1], unit(0)).document
            assert all(point.payload == {"doc_id": document, "doc_version": 1} for point in found)
            assert [np.argmax(point.vector or ()) for point in found] == [number % DIMENSION for number in range(30)]
            assert next(store.scroll(GENERATION, ())).vector is None

    def test_scroll_crosses_its_pages(self, tmp_path: Path) -> None:
        ids = point_ids(1_050)
        vectors = np.tile(unit(0), (len(ids), 1))
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [made_points(1, ids, vectors)])
            assert [point.id for point in store.scroll(GENERATION, ())] == list(ids)
            assert store.count(GENERATION) == len(ids)
            assert len(store.retrieve(GENERATION, ids)) == len(ids)
