"""The number of stale documents is that of the documents a reindex would make again."""

from dataclasses import replace

from ingestd.pipeline.reindex import stale_documents
from ingestd.pipeline.staleness import count_stale
from tests.unit.pipeline.site import Site


def test_as_many_documents_are_counted_as_a_reindex_would_make_again(site: Site) -> None:
    site.root("notes")
    for root, name in (("docs", "a.md"), ("docs", "b.txt"), ("notes", "c.md"), ("notes", "d.md"), ("notes", "e.bin")):
        site.write(name, f"Text of {name}.\n" if name != "e.bin" else "\0\1\2\3" * 99, root=root)
    site.sync()
    parts = site.parts()
    assert [count_stale(parts, [id_]) for id_ in parts.roots] == [0, 0]
    site.chunker = replace(site.chunker, max_size=100)
    changed = site.parts()
    counted = {plan.name: count_stale(changed, [id_]) for id_, plan in changed.roots.items()}
    assert counted == {plan.name: len(stale_documents(changed, [id_])) for id_, plan in changed.roots.items()}
    assert counted == {"docs": 2, "notes": 2}
    assert count_stale(changed, list(changed.roots)) == 4


def test_documents_whose_file_is_gone_are_not_counted_as_stale(site: Site) -> None:
    site.write("a.md", "Text of one.\n")
    gone = site.write("b.md", "Text of the other.\n")
    site.sync()
    with site.ledger.write("lost") as transaction:
        transaction.exec_driver_sql("UPDATE source SET state = 'gone' WHERE name = :name", {"name": b"b.md"})
    gone.unlink()
    site.chunker = replace(site.chunker, max_size=100)
    parts = site.parts()
    assert count_stale(parts, list(parts.roots)) == len(stale_documents(parts, list(parts.roots))) == 1
