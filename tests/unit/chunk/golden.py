"""Stored boundaries of every version of the native chunkers, and stored digests of what the Markdown converter gives.

``python -m tests.unit.chunk.golden`` writes what is missing of the versions in the code. It never changes a file that is
there: a boundary that moves asks for another version. ``--rewrite`` does, for a version that was never released.

    tests/data/golden/sources/NAME.md                    Markdown files
    tests/data/golden/documents/NAME.json                documents, frozen: what the chunkers are given
    tests/data/golden/CHUNKER/VERSION/NAME.json          their chunks at each setting
    tests/data/golden/markdown/VERSION.json              digest of each source's document
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ingestd.chunk import CHUNKERS, ChunkOptions
from ingestd.chunk.versions import Cut, runnable
from ingestd.convert.decode import decode
from ingestd.model.document import Document, document_as_json, document_from_json
from ingestd_adapters.markdown_converter import markdown, markdown_document
from ingestd_adapters.punctuation_segmenter import punctuation

FOLDER = Path(__file__).parents[2] / "data" / "golden"
SOURCES = tuple(sorted((FOLDER / "sources").glob("*.md")))
MAX_TOKENS = 512
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "tokens": {},
    "tokens-48": {"max_size": 48},
    "chars": {"unit": "chars"},
    "chars-2000": {"unit": "chars", "max_size": 2000},
}
REGENERATE = "python -m tests.unit.chunk.golden"
MOVED = f"raise its VERSION, then run `{REGENERATE}`; a version that was never released may be rewritten: --rewrite"
_TOKEN = re.compile(r"[^\W_]{1,6}|[^\s]")


def count(texts: Sequence[str]) -> list[int]:
    """A token for each six letters begun of a word, one for each mark, two special ones."""
    return [2 + len(_TOKEN.findall(text)) for text in texts]


def documents() -> dict[str, Document]:
    """The frozen documents by name."""
    found = sorted((FOLDER / "documents").glob("*.json"))
    return {path.stem: document_from_json(json.loads(path.read_text(encoding="utf-8"))) for path in found}


def converted(source: Path) -> Document:
    """Document of a source, as it is now."""
    decoded = decode(source.read_bytes())
    return markdown_document(decoded.text, name=source.name, encoding=decoded.encoding)


def digests() -> dict[str, str]:
    """Of what the converter gives for each source now."""
    return {path.stem: _digest(json.dumps(document_as_json(converted(path)), sort_keys=True)) for path in SOURCES}


def boundaries(document: Document, chunker: str, cut: Cut) -> dict[str, list[Any]]:
    """Chunks by setting: index, first character, one past the last, heading path, digest of the text and the tokens."""
    return {
        name: [
            [c.index, c.char_start, c.char_end, list(c.heading_path), _digest(c.text)]
            for c in cut(
                document, ChunkOptions(name=chunker, **options), count, punctuation(), max_tokens=MAX_TOKENS
            ).chunks
        ]
        for name, options in SETTINGS.items()
    }


def complaint(name: str, document: Document, chunker: str, version: int, cut: Cut) -> str:
    """What is wrong with the chunks of a document by a version; empty when they are as they were stored."""
    path = fixture(chunker, version, name)
    if not path.exists():
        return f"no boundaries of {chunker} {version} are stored for {name}: run `{REGENERATE}`"
    moved = difference(json.loads(path.read_text(encoding="utf-8")), boundaries(document, chunker, cut))
    return f"{chunker} {version} chunks {name} otherwise than it did ({moved}): {MOVED}" if moved else ""


def fixture(chunker: str, version: int, document: str) -> Path:
    """Where the document's chunks are stored for a version of the chunker."""
    return FOLDER / chunker / str(version) / f"{document}.json"


def converter_fixture() -> Path:
    """Where the digests are stored for the converter's version in the code."""
    return FOLDER / "markdown" / f"{markdown({}).stage.version}.json"


def difference(stored: Mapping[str, Sequence[Any]], now: Mapping[str, Sequence[Any]]) -> str:
    """The first chunk that is not as it was, in words; empty when all are."""
    for setting in sorted(stored.keys() | now.keys()):
        before, after = stored.get(setting, []), now.get(setting, [])
        if before != after:
            at = next((n for n, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
            if at is None:
                return f"{setting}: {len(before)} chunks became {len(after)}"
            return f"{setting}: {before[at]} became {after[at]}"
    return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def main(rewrite: bool) -> int:
    for source in SOURCES:
        frozen = json.dumps(document_as_json(converted(source)), ensure_ascii=False, indent=1)
        write(FOLDER / "documents" / f"{source.stem}.json", frozen, rewrite=False)
    kept = [write(converter_fixture(), json.dumps(digests(), indent=1), rewrite)]
    for name, document in documents().items():
        for each in CHUNKERS:
            version, cut = max(runnable(each).items())
            kept.append(write(fixture(each, version, name), _as_text(boundaries(document, each, cut)), rewrite))
    moved = [path for path in kept if path]
    sys.stderr.writelines(f"{path.relative_to(FOLDER)} would change: {MOVED}\n" for path in moved)
    return 1 if moved else 0


def _as_text(found: Mapping[str, Sequence[Any]]) -> str:
    """JSON with a line for each chunk, so that a diff shows which moved."""
    settings = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in chunks) + "\n]"
        for name, chunks in found.items()
    ]
    return "{\n" + ",\n".join(settings) + "\n}"


def write(path: Path, text: str, rewrite: bool) -> Path | None:
    """Write the file where it is missing; give it when it is there with another content, unless it may be rewritten."""
    text += "\n"
    if path.exists() and not rewrite:
        return path if path.read_text(encoding="utf-8") != text and path.parent.name != "documents" else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rewrite", action="store_true", help="change what is stored of a version never released")
    sys.exit(main(parser.parse_args().rewrite))
