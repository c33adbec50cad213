"""Spans of the stages: the seed's names and attributes, and nothing where nobody records."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the SDK that keeps spans is not installed")

from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402

from ingestd.chunk import tracing  # noqa: E402
from ingestd.chunk.compat import structure_first  # noqa: E402
from ingestd.chunk.compat.grain_growth import chunk_document as grain_growth  # noqa: E402
from ingestd.chunk.makers import Chunking  # noqa: E402
from ingestd.chunk.many import chunk_documents  # noqa: E402
from ingestd.chunk.options import ChunkOptions  # noqa: E402
from tests.unit.chunk import makers  # noqa: E402
from tests.unit.chunk.build import MAX_TOKENS, chunked, document, sentences  # noqa: E402

PREFIX = "fancychunk."
TEXT = "# A\n\n" + "One two three four. " * 10 + "\n\n# B\n\n" + "Five six seven. " * 12
PUNCTUATION = structure_first.punctuation_segmenter
Spans = list[tuple[str, str | None, dict[str, Any]]]
"""Name, name of the parent, attributes; in the order of their start."""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Spans]]:
    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("ingestd")
    monkeypatch.setattr(tracing, "_RECORDER", lambda: tracer)

    def recorded() -> Spans:
        found = sorted(exporter.get_finished_spans(), key=lambda span: (span.start_time, span.context.span_id))
        exporter.clear()
        names = {span.context.span_id: span.name for span in found}
        return [
            (span.name, names[span.parent.span_id] if span.parent else None, dict(span.attributes)) for span in found
        ]

    yield recorded
    provider.shutdown()


def attributes_of(spans: Spans, name: str) -> dict[str, Any]:
    (found,) = [attributes for span, _, attributes in spans if span == name]
    return {key.removeprefix(PREFIX): value for key, value in found.items()}


def test_sentences_are_traced_as_in_the_seed(spans: Callable[[], Spans]) -> None:
    structure_first.split_sentences(TEXT, max_len=50, segmenter=PUNCTUATION)
    recorded = spans()
    assert attributes_of(recorded, "fancychunk.split_sentences") == {
        "document.length": 404,
        "min_len": 4,
        "max_len": 50,
        "segmenter": "punctuation_segmenter",
        "sentences.count": 24,
    }
    stages = ("segmenter", "heading_override", "merge", "whitespace_trailing", "dp", "slice")
    assert [(name, parent) for name, parent, _ in recorded[1:]] == [
        (f"fancychunk.sentences.{stage}", "fancychunk.split_sentences") for stage in stages
    ]


@pytest.mark.parametrize(
    ("text", "why", "count"), [("", "empty", 0), (" \n", "whitespace_only", 0), ("ab", "below_min_len", 1)]
)
def test_sentences_that_are_not_split_say_why(spans: Callable[[], Spans], text: str, why: str, count: int) -> None:
    class Segmenter:
        def __call__(self, _text: str) -> list[float]:
            raise AssertionError

    structure_first.split_sentences(text, segmenter=Segmenter())
    expected = {
        "document.length": len(text),
        "min_len": 4,
        "segmenter": "Segmenter",
        "sentences.count": count,
        "short_circuit": why,
    }
    assert attributes_of(spans(), "fancychunk.split_sentences") == expected


def test_chunklets_are_traced_as_in_the_seed(spans: Callable[[], Spans]) -> None:
    sentences_of_text = structure_first.split_sentences(TEXT, segmenter=PUNCTUATION)
    spans()
    structure_first.split_chunklets(sentences_of_text)
    structure_first.split_chunklets(sentences_of_text, 100, lambda _: 0.0)
    recorded = spans()
    assert [attributes for name, _, attributes in recorded if name == "fancychunk.split_chunklets"] == [
        {
            "fancychunk.sentences.count": 24,
            "fancychunk.max_size": size,
            "fancychunk.custom_costs": custom,
            "fancychunk.chunklets.count": count,
        }
        for size, custom, count in ((2048, False, 7), (100, True, 8))
    ]
    stages = ("boundary_probas", "statement_counts", "dp")
    assert [name for name, parent, _ in recorded if parent == "fancychunk.split_chunklets"] == [
        f"fancychunk.chunklets.{stage}" for stage in stages * 2
    ]
    for given, why in (([], "empty"), (["a b c. "], "single_sentence")):
        structure_first.split_chunklets(given)
        assert attributes_of(spans(), "fancychunk.split_chunklets") == {
            "sentences.count": len(given),
            "max_size": 2048,
            "custom_costs": False,
            "chunklets.count": len(given),
            "short_circuit": why,
        }


def test_chunks_are_traced_as_in_the_seed(spans: Callable[[], Spans]) -> None:
    chunklets = structure_first.split_chunklets(structure_first.split_sentences(TEXT, segmenter=PUNCTUATION))
    embedder = structure_first.embedders.noop(8)
    spans()
    asyncio.run(structure_first.split_chunks(chunklets, embedder, 150))
    recorded = spans()
    assert attributes_of(recorded, "fancychunk.split_chunks") == {
        "chunklets.count": 7,
        "max_size": 150,
        "embedding.dim": 8,
        "chunks.count": 3,
    }
    assert [name for name, parent, _ in recorded if parent == "fancychunk.split_chunks"] == [
        "fancychunk.chunks.partition_similarities",
        "fancychunk.chunks.dp",
    ]
    assert attributes_of(recorded, "fancychunk.heading_paths") == {"chunks.count": 3, "paths.non_empty": 2}
    for given, why in (([], "empty"), (chunklets[:1], "single_chunklet"), (chunklets, "total_fits")):
        asyncio.run(structure_first.split_chunks(given, embedder))
        assert attributes_of(spans(), "fancychunk.split_chunks")["short_circuit"] == why


def test_a_document_is_traced_as_in_the_seed(spans: Callable[[], Spans]) -> None:
    chunks, _ = asyncio.run(
        structure_first.chunk_document(TEXT, structure_first.embedders.noop(8), 150, segmenter=PUNCTUATION)
    )
    recorded = spans()
    whole = "fancychunk.split_chunks_structure_first"
    assert attributes_of(recorded, whole) == {
        "document.chars": 404,
        "max_size": 150,
        "units.direct": 0,
        "units.fallback": 2,
        "chars.direct": 0,
        "chars.fallback": 404,
    }
    unit = [f"fancychunk.split_{stage}" for stage in ("sentences", "chunklets", "chunks")]
    assert [name for name, parent, _ in recorded if parent == whole] == [*unit, *unit, "fancychunk.heading_paths"]
    assert attributes_of(recorded, "fancychunk.embed_with_late_chunking") == {
        "chunks.count": 4,
        "preamble_fraction": 0.382,
        "normalize": True,
        "include_headings": True,
        "embedder.n_ctx": 4096,
        "embedder": "NoopSegmentEmbedder",
        "budget": 4096,
        "preamble_budget": 1564,
        "segments.count": 1,
        "embedding.dim": 8,
    }
    structure_first.enrich_with_headings(chunks)
    expected = [
        ("fancychunk.enrich_with_headings", None, {"fancychunk.chunks.count": 4, "fancychunk.paths.non_empty": 3})
    ]
    assert spans() == expected


def test_many_documents_are_traced_as_in_the_seed(spans: Callable[[], Spans]) -> None:
    asyncio.run(structure_first.chunk_documents(["b", ""], structure_first.embedders.noop(8), 150, 2))
    recorded = spans()
    assert attributes_of(recorded, "fancychunk.chunk_documents") == {
        "documents.count": 2,
        "max_size": 150,
        "max_concurrency": 2,
    }
    assert sorted(name for name, parent, _ in recorded if parent == "fancychunk.chunk_documents") == [
        "fancychunk.embed_with_late_chunking",
        "fancychunk.embed_with_late_chunking",
        "fancychunk.split_chunks_structure_first",
    ]


def test_a_stage_that_fails_says_so(spans: Callable[[], Spans], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(structure_first.OversizedSentenceError):
        structure_first.split_chunklets(["a", "bcd"], 2)
    assert "chunklets.count" not in attributes_of(spans(), "fancychunk.split_chunklets")


def test_many_documents_of_the_native_chunkers_are_one_span(spans: Callable[[], Spans]) -> None:
    given = [document(("paragraph", sentences(3))) for _ in range(2)]
    chunking = Chunking(
        options=ChunkOptions(name="grain-growth"),
        make_count=makers.make_words,
        make_segmenter=makers.make_punctuation,
        max_tokens=MAX_TOKENS,
    )
    list(chunk_documents(given, chunking, processes=0))
    recorded = spans()
    assert recorded[0] == (
        "ingestd.chunk_documents",
        None,
        {"ingestd.chunker": "grain-growth", "ingestd.processes": 0, "ingestd.documents.count": 2},
    )
    assert [name for name, parent, _ in recorded if parent == "ingestd.chunk_documents"] == ["ingestd.chunk"] * 2


def test_the_native_stages_are_traced(spans: Callable[[], Spans]) -> None:
    made = chunked(document(("h1", "A"), ("paragraph", sentences(30))), max_size=60)
    recorded = spans()
    assert recorded[0] == (
        "ingestd.chunk",
        None,
        {
            "ingestd.chunker": "structure-first",
            "ingestd.profile": "native",
            "ingestd.document.chars": recorded[0][2]["ingestd.document.chars"],
            "ingestd.blocks.count": 2,
            "ingestd.chunks.count": len(made.chunks),
            "ingestd.skipped.count": 0,
        },
    )
    assert [name for name, parent, _ in recorded[1:] if parent == "ingestd.chunk"] == [
        f"ingestd.chunk.{stage}" for stage in ("outline", "manuscript", "drafts", "emission")
    ]


def test_grain_growth_is_traced(spans: Callable[[], Spans]) -> None:
    grain_growth([{"type": "paragraph", "text": "Some words.", "page": 0}, {"type": "footnote", "text": "x"}], "f", 100)
    attributes = {
        "ingestd.blocks.count": 2,
        "ingestd.target_chars": 100,
        "ingestd.max_chars": 2000,
        "ingestd.lead_sentences": 2,
        "ingestd.skipped.count": 1,
    }
    assert spans() == [("ingestd.grain_growth", None, attributes)]


SCRIPT = """
from ingestd.chunk.compat import structure_first
print(structure_first.split_chunklets(["a b c. "]))
"""
LATER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
structure_first.split_chunklets(["a b c. "])
print([(span.name, span.instrumentation_scope.name) for span in kept.get_finished_spans()])
"""
WITHOUT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ImportError(name)

sys.meta_path.insert(0, Blocker())
"""


def output(script: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_provider_may_be_set_up_after_the_import() -> None:
    assert output(SCRIPT + LATER).splitlines() == ["['a b c. ']", "[('fancychunk.split_chunklets', 'ingestd')]"]


def test_all_goes_on_without_opentelemetry() -> None:
    stages = "import sys\nassert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    assert output(WITHOUT + SCRIPT + stages) == "['a b c. ']\n"
