"""docs/payload.md names every field of a point, and which are indexed."""

import os
import re
from pathlib import Path

from ingestd.model.document import BlockType
from ingestd.testing.memory_store import MemoryStore
from ingestd_adapters.qdrant_payload import INDEXED, kept
from tests.unit.pipeline.conftest import empty_ledger, site
from tests.unit.pipeline.site import INSTANCE, Site

__all__ = ["empty_ledger", "site"]
PAGE = (Path(__file__).parents[2] / "docs" / "payload.md").read_text(encoding="utf-8")


def described() -> dict[str, bool]:
    """Fields of the page's tables, and whether they are marked as indexed."""
    rows = re.findall(r"^\| ((?:`\w+`(?: \*)?(?:, )?)+) \| [a-z]", PAGE, flags=re.MULTILINE)
    return {name: bool(mark) for row in rows for name, mark in re.findall(r"`(\w+)`( \*)?", row)}


def test_every_field_of_a_point_is_described_and_no_other(site: Site) -> None:
    site.write(os.fsdecode(b"sub/odd \xff.md"), "# Title\n\nText.\n")
    site.sync()
    store, generation = MemoryStore(INSTANCE, site.shelf), site.live().generation
    (point,) = store.retrieve(generation, [point.id for point in store.scroll(generation, ())])
    assert set(described()) == set(kept(point.payload))


def test_the_indexed_fields_are_marked() -> None:
    assert {name for name, indexed in described().items() if indexed} == set(INDEXED)


def test_every_type_of_block_in_a_chunk_is_named() -> None:
    assert all(f"`{kind}`" in PAGE for kind in BlockType if kind is not BlockType.FURNITURE)
