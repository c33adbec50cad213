"""LangChain's ``index()`` with full cleanup, into Qdrant's local mode; run in an environment of its own."""

import argparse
import json
from pathlib import Path

from hash_vectors import DIMENSION, HashVectors

COLLECTION = "bench"


def update(root: Path, work: Path, size: int) -> dict[str, int]:
    """Index the folder once."""
    from langchain_classic.indexes import SQLRecordManager, index
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_qdrant import QdrantVectorStore
    from langchain_text_splitters import MarkdownTextSplitter
    from qdrant_client import QdrantClient, models

    class Hashed(Embeddings):
        """The benchmark's vectors under LangChain's names."""

        def __init__(self) -> None:
            self.vectors = HashVectors()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return self.vectors.embed(texts).tolist()

        def embed_query(self, text: str) -> list[float]:
            return self.vectors.embed([text])[0].tolist()

    client = QdrantClient(path=str(work / "qdrant"))
    if not client.collection_exists(COLLECTION):
        parameters = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
        client.create_collection(COLLECTION, vectors_config=parameters)
    embeddings = Hashed()
    store = QdrantVectorStore(client, COLLECTION, embedding=embeddings, validate_collection_config=False)
    records = SQLRecordManager("bench", db_url=f"sqlite:///{work / 'records.sqlite'}")
    records.create_schema()
    splitter = MarkdownTextSplitter(chunk_size=size, chunk_overlap=0)
    documents = [
        Document(page_content=piece, metadata={"path": str(file.relative_to(root))})
        for file in sorted(root.rglob("*.md"))
        for piece in splitter.split_text(file.read_text())
    ]
    index(documents, records, store, cleanup="full", source_id_key="path", key_encoder="sha1")
    client.close()
    return {"embedded": embeddings.vectors.embedded}


def stored(work: Path) -> list[tuple[str, str]]:
    """Path and text of every point."""
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(work / "qdrant"))
    records, _ = client.scroll(COLLECTION, limit=1_000_000, with_payload=True)
    return [
        (record.payload["metadata"]["path"], record.payload["page_content"]) for record in records if record.payload
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=("update", "stored"))
    parser.add_argument("--root", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--size", type=int)
    given = parser.parse_args()
    print(json.dumps(update(given.root, given.work, given.size) if given.step == "update" else stored(given.work)))


if __name__ == "__main__":
    main()
