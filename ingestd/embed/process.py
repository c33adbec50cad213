"""The embedder's own process: ``python -m ingestd.embed.process``.

Requests, each one frame: ``{"do": "describe"}``, ``{"do": "embed", "texts": […]}``, ``{"do": "query", "text": …}``. Vectors
come back as the frame's blob: rows of little-endian float32, row by row. A batch that the device has no memory for is
answered with ``{"short_of_memory": …}``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd import children
from ingestd.embed.named import embedder_named
from ingestd.failpoints import failpoint
from ingestd.ports.embedder import Embedder


def main() -> None:
    """Serve the embedder that the arguments ``name`` and ``options`` say until the parent is gone."""
    children.serve(lambda arguments: answerer(embedder_named(arguments["name"], arguments["options"])))


def answerer(embedder: Embedder) -> children.Answerer:
    """Load the embedder; return what answers for it."""
    embedder.load()

    def answer(request: dict[str, Any], _blob: bytes) -> children.Reply:
        try:
            return _answered(embedder, request)
        except MemoryError as error:
            return {"short_of_memory": str(error)}, b""

    return answer


def _answered(embedder: Embedder, request: dict[str, Any]) -> children.Reply:
    match request["do"]:
        case "describe":
            return {"device": embedder.device, "digest": embedder.stage.digest}, b""
        case "embed":
            failpoint("embed.batch")
            return _as_blob(embedder.embed_documents(request["texts"]))
        case "query":
            return _as_blob(embedder.embed_query(request["text"]))
        case other:
            raise ValueError(f"the embedder's process knows no request {other!r}")


def _as_blob(matrix: NDArray[np.float32]) -> children.Reply:
    return {"shape": list(matrix.shape)}, np.ascontiguousarray(matrix, "<f4").tobytes()


if __name__ == "__main__":
    main()
