"""Finds out what became of files that were not found when their turn came."""

from collections import defaultdict
from collections.abc import Sequence

from ingestd.errors import TransientError
from ingestd.model.source import display
from ingestd.pipeline.attempt import record_failure
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Failed
from ingestd.pipeline.scan import scan_root
from ingestd.pipeline.tally import Tally
from ingestd.state import sources
from ingestd.state.sources import SourceRow


def look_for(parts: Parts, missing: Sequence[SourceRow], tally: Tally) -> None:
    """Scan the folders of files that were not found; what a scan does not call gone is put off.

    One path that leads to nothing tells a deleted file from one whose disk is not mounted no more than an empty folder
    does: a scan can.
    """
    folders: dict[int, set[bytes]] = defaultdict(set)
    for source in missing:
        folders[source.root_id].add(source.path.rpartition(b"/")[0])
    there: set[int] = set()
    for root_id, directories in folders.items():
        found = Tally()
        if scan_root(parts, parts.roots[root_id], found, directories=directories, deep=False):
            there.add(root_id)
            tally.touch_all(found)
    with parts.ledger.read() as transaction:
        now = {source.id: source for source in sources.by_ids(transaction, [source.id for source in missing])}
    for before in missing:
        # Below a root that vanished nothing is due until it is back.
        after = now.get(before.id) if before.root_id in there else None
        if after is not None and (after.state, after.seq) == ("pending", before.seq):
            why = TransientError(f"{display(after.path)}: not found, and its folder does not tell whether it is gone")
            record_failure(parts, Failed(source=after, stage="stage", stage_digest="", error=why))
