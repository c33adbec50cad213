"""A CocoIndex 1.x flow that does the same, into Qdrant's local mode; run in an environment of its own."""

import argparse
import json
import os
import pathlib
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import cocoindex as coco
import numpy as np
from cocoindex.connectors import localfs, qdrant
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.file import FileLike, PatternFilePathMatcher
from cocoindex.resources.schema import VectorSchema
from hash_vectors import DIMENSION, HashVectors
from qdrant_client import QdrantClient

COLLECTION = "bench"
CLIENT = coco.ContextKey[QdrantClient]("client")
NAMESPACE = uuid.UUID(int=0)
vectors = HashVectors()
splitter = RecursiveSplitter()


@coco.lifespan
async def environment(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
    builder.provide(CLIENT, QdrantClient(path=os.environ["BENCH_QDRANT"]))
    yield


@coco.fn(memo=True)
async def vector_of(text: str) -> bytes:
    return vectors.embed([text])[0].tobytes()


@coco.fn(memo=True)
async def index_file(file: FileLike, size: int, target: qdrant.CollectionTarget) -> None:
    path = str(file.file_path.path)
    seen: Counter[str] = Counter()
    for piece in splitter.split(await file.read_text(), chunk_size=size, chunk_overlap=0, language="markdown"):
        row = np.frombuffer(await vector_of(piece.text), dtype=np.float32)
        id_ = str(uuid.uuid5(NAMESPACE, f"{path}\0{piece.text}\0{seen[piece.text]}"))
        seen[piece.text] += 1
        payload = {"path": path, "text": piece.text}
        target.declare_point(qdrant.PointStruct(id=id_, vector=row.tolist(), payload=payload))


@coco.fn
async def index_folder(root: pathlib.Path, size: int) -> None:
    schema = VectorSchema(dtype=np.dtype(np.float32), size=DIMENSION)
    target = await qdrant.mount_collection_target(
        CLIENT, COLLECTION, await qdrant.CollectionSchema.create(vectors=qdrant.QdrantVectorDef(schema=schema))
    )
    files = localfs.walk_dir(root, recursive=True, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.md"]))
    await coco.mount_each(index_file, files.items(), size, target)


def stored(work: Path) -> list[tuple[str, str]]:
    """Path and text of every point."""
    client = QdrantClient(path=str(work / "qdrant"))
    records, _ = client.scroll(COLLECTION, limit=1_000_000, with_payload=True)
    return [(record.payload["path"], record.payload["text"]) for record in records if record.payload]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=("update", "stored"))
    parser.add_argument("--root", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--size", type=int)
    given = parser.parse_args()
    if given.step == "stored":
        print(json.dumps(stored(given.work)))
        return
    os.environ["BENCH_QDRANT"] = str(given.work / "qdrant")
    os.environ["COCOINDEX_DB"] = str(given.work / "cocoindex.db")
    app = coco.App(coco.AppConfig(name="bench"), index_folder, root=given.root, size=given.size)
    app.update_blocking()
    print(json.dumps({"embedded": vectors.embedded}))


if __name__ == "__main__":
    main()
