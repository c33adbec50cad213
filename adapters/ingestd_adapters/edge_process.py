"""The process that owns the embedded engine's files.

The engine's calls hold the interpreter's lock, and a full disk ends its process: neither may be the daemon's.
"""

from pathlib import Path
from typing import Any

from ingestd.children import Reply, serve
from ingestd.errors import IngestdError
from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Deletion
from ingestd_adapters import edge_frames
from ingestd_adapters.edge_page import Page
from ingestd_adapters.edge_shard import EdgeShards


def main() -> None:
    """Answer until the parent leaves, then flush what is open."""
    owned: list[EdgeShards] = []

    def answer_with(arguments: dict[str, Any]) -> "Answers":
        owned.append(
            EdgeShards(
                Path(arguments["directory"]),
                Instance(arguments["instance"]),
                min_free_bytes=arguments["min_free_bytes"],
                lock_wait_seconds=arguments["lock_wait_seconds"],
            )
        )
        return Answers(owned[0])

    serve(answer_with)
    for shards in owned:
        shards.close()


class Answers:
    """One reply for each request, from the shards that this process owns."""

    def __init__(self, shards: EdgeShards) -> None:
        self._shards = shards

    def __call__(self, head: dict[str, Any], blob: bytes) -> Reply:
        """Reply to one request."""
        try:
            return self._write(head, blob) or self._read(head, blob) or self._look(head)
        except (TypeError, ValueError, OverflowError) as error:
            # The client checked what it sends: what the engine refuses all the same would be refused each time.
            raise IngestdError(f"the embedded store refused the request {head['op']!r}: {error}") from error

    def _write(self, head: dict[str, Any], blob: bytes) -> Reply | None:
        match head["op"]:
            case "upsert":
                self._shards.write(edge_frames.generation_of(head), edge_frames.batch_of(head, blob))
            case "overwrite":
                self._shards.rewrite(edge_frames.generation_of(head), edge_frames.overwrites_of(head, blob))
            case "delete":
                version = head["version"]
                deletions = [Deletion(id=PointId(point), below_version=version) for point in head["ids"]]
                self._shards.delete(edge_frames.generation_of(head), deletions)
            case "flush":
                self._shards.flush(edge_frames.generation_of(head))
            case "record_claim":
                claim = edge_frames.claim_of(head["claim"])
                assert claim is not None
                self._shards.record_claim(edge_frames.generation_of(head), claim)
            case "drop":
                self._shards.drop(edge_frames.generation_of(head))
            case _:
                return None
        return {}, b""

    def _read(self, head: dict[str, Any], blob: bytes) -> Reply | None:
        match head["op"]:
            case "search":
                narrowed = edge_frames.narrowed_of(head)
                vector = edge_frames.vector_of(blob)
                hits = self._shards.search(edge_frames.generation_of(head), vector, head["limit"], narrowed)
                return edge_frames.found(hits)
            case "page":
                start = head["start"]
                page = self._shards.page(
                    edge_frames.generation_of(head), head["fields"], vectors=head["vectors"], start=start
                )
                return edge_frames.turned(page)
            case "retrieve":
                points = self._shards.retrieve(edge_frames.generation_of(head), head["ids"])
                return edge_frames.turned(Page(points=points, next=None))
            case "count":
                return {"count": self._shards.count(edge_frames.generation_of(head))}, b""
            case _:
                return None

    def _look(self, head: dict[str, Any]) -> Reply:
        match head["op"]:
            case "prepare":
                return {"made": self._shards.prepare(edge_frames.generation_of(head))}, b""
            case operation:
                raise ValueError(f"no such operation: {operation!r}")


if __name__ == "__main__":
    main()
