"""The tables of the configuration, with the meaning, the unit and the reason of each default.

Plain dataclasses: a command that runs without a configuration file never imports pydantic.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from ingestd.settings.bounds import Bounds, Matching

PlainName = Annotated[str, Matching(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
"""Letters, digits, ``.``, ``_``, ``-``: safe in file names, logs and URLs on every system."""
CollectionText = Annotated[str, Matching(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""No dot: the physical collections append ``.g<N>``."""
LanguageName = Annotated[str, Matching(pattern=r"^[A-Za-z]{2,10}(_[A-Za-z0-9]{1,20}){0,3}$")]
"""A name of tesseract's data, such as ``eng`` or ``chi_sim``: it goes onto a command line."""
Bytes = Annotated[int, Bounds(least=0)]
Seconds = Annotated[float, Bounds(above=0)]
Size = Annotated[int, Bounds(least=1)]

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """``[store]``: where the points are kept."""

    kind: Literal["edge", "server"] = "edge"
    """``edge``: Qdrant's own engine inside ingestd, files below the state directory; ``server``: a Qdrant server
    (1.16 or newer). The default needs nothing to be installed or run."""
    url: str | None = None
    """Address of the server, such as ``http://localhost:6333``; only for ``kind = "server"``, and needed there."""
    api_key_file: Path | None = None
    """File whose first line is the server's API key. A file, never the key itself: configurations get copied, and
    environments can be read by others. Relative to the configuration's folder, or below ``$CREDENTIALS_DIRECTORY``."""
    prefer_grpc: bool = False
    """Speak gRPC to the server. Off: REST costs the client the same and passes more proxies."""
    timeout_seconds: Seconds | None = None
    """Longest wait for one answer of the store. Unset: 30 for a server, where a batch of 256 points takes far less; 120
    for the embedded store, which may have to open a million points first."""
    min_free_bytes: Bytes = 256 * MIB
    """Free space below which nothing more is written to the state's disk: the embedded engine's process dies on a full
    disk, and the flush of a large batch needs some room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootEmbedderSettings:
    """``[root.embedder]``: the vector space of one root. Roots of one collection must have the same."""

    name: PlainName = "bge-small"
    """Registered embedder. The default's weights come with ``ingestd[model]``: no download, no torch."""
    model_dir: Path | None = None
    """Folder with the model's files, in place of those that come with its package. Their hashes must be the pinned
    ones."""
    dimension: Size | None = None
    """Numbers of a vector, for embedders that can give several. Unset: the embedder's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSettings(RootEmbedderSettings):
    """``[embedder]``: what turns texts into vectors."""

    device: str = "auto"
    """``auto``, ``cpu``, ``cuda``, ``cuda:1``, …; ``auto`` takes the fastest that the engine finds."""
    threads: Size | None = None
    """Threads of the engine on a CPU. Unset: the cores that the process may use, at most 4; more bring little."""
    batch_tokens: Size = 1024
    """Most padded tokens of one batch. On a CPU 512 to 1,024 reach the most tokens a second; a GPU wants 16,384 or
    more. Fewer are taken where the device is too slow or too small for them."""
    idle_seconds: Annotated[float, Bounds(least=0)] = 300.0
    """Time without work after which the model's process is ended, so that an idle daemon holds no model in memory. 0:
    never."""
    cache_bytes: Bytes = 1 * GIB
    """Most bytes of the vector cache, which keeps any text from being embedded twice: about 600,000 vectors of 384
    numbers. The longest unused go first; it may be deleted at any time. 0: no cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootConverterSettings:
    """``[root.converter]``: how the files of one root are converted."""

    pdf: PlainName = "auto"
    """Converter of PDF files: ``auto`` takes the best one installed that needs no download."""
    office: PlainName = "auto"
    """Converter of DOCX and other office files: ``auto`` as above."""
    ocr: Literal["auto", "off", "on", "rapidocr", "tesseract"] = "auto"
    """What reads the pages of a PDF that have no text layer, or one that means nothing. ``auto``: RapidOCR, which
    ``ingestd[ocr]`` brings, else tesseract, else nothing: PDFs of pictures alone wait in quarantine as ``NeedsOcr``
    then, as with ``off``. ``on``: as ``auto``, but no PDF is read without an engine. Or one engine by its name."""
    ocr_languages: tuple[LanguageName, ...] = ()
    """Languages of such pages, as tesseract calls them: ``["eng", "deu"]``. Empty: English for tesseract. RapidOCR needs to
    know none, as it reads Latin, Greek, Chinese and Japanese letters, and refuses languages of others."""
    max_ocr_pages: Size = 300
    """Most such pages of a PDF file, which take some 2 to 15 seconds of a core each; a longer one is quarantined, never
    read in part."""
    ocr_page_seconds: Annotated[float, Bounds(least=0)] = 60.0
    """What each such page adds to the longest conversion, beyond the 15 minutes below. A busy machine may need it."""
    timeout_seconds: Seconds = 60.0
    """Longest conversion of a file without pages; its process is killed then. Common files take under 6."""
    page_seconds: Annotated[float, Bounds(least=0)] = 2.0
    """What each page adds to ``timeout_seconds``, up to 15 minutes in all: a slow core needs about 1.5 with the slowest
    converter."""
    memory_bytes: Annotated[int, Bounds(least=256 * MIB)] = 4 * GIB
    """Most memory (address space) of a converter's process; crafted files ask for tens of gigabytes. OCR wants 1
    GiB."""
    max_pages: Size = 5000
    """Most pages of a PDF file; a longer one is quarantined, never cut short."""
    max_text_bytes: Size = 20 * MIB
    """Largest text, Markdown or HTML file; larger ones are logs or dumps rather than documents."""
    max_office_bytes: Size = 100 * MIB
    """Largest office file, mail or book, as it lies on disk."""
    max_pdf_bytes: Size = 500 * MIB
    """Largest PDF file; scanned books reach some hundred megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConverterSettings(RootConverterSettings):
    """``[converter]``: what turns files into documents."""

    cache_bytes: Bytes = 4 * GIB
    """Most bytes of converted documents kept, so that a new chunker converts nothing again. What a served version was
    made from is kept whatever this says. 0: only that."""
    workers: Annotated[int, Bounds(least=1, most=64)] = 1
    """Files converted at the same time, each in a process of its own with ``memory_bytes``. One keeps up with an
    embedder on a CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkerSettings:
    """``[chunker]``: how documents are cut."""

    name: Literal["structure-first", "grain-growth"] = "structure-first"
    """``structure-first`` cuts at headings, then by size; ``grain-growth`` grows whole blocks inside a section."""
    profile: Literal["native", "compat"] = "native"
    """Which rules: ``native`` are the present ones; ``compat`` cuts as the published packages do, fancychunk 0.8.0 and
    grain-growth-chunking 1.0.0, faults included. Those count characters: where a chunk is over what the embedder takes,
    sizes that are unset are lowered; with sizes that are set the file is quarantined."""
    max_size: Size | None = None
    """Largest chunk, heading path included, in ``unit``. Unset: the chunker's own measured default, never above what
    the embedder reads; with ``compat`` the package's, 2,048 for structure-first and 2,000 for grain-growth."""
    min_size: Annotated[int, Bounds(least=0)] | None = None
    """Size below which a chunk is joined to its neighbour where the structure allows it, in ``unit``. Unset: in the
    chunker's proportion to ``target_size``; with ``compat`` 0.35 of ``max_size`` for structure-first, and grain-growth
    has none."""
    target_size: Size | None = None
    """Where a chunk that has a choice ends, in ``unit``. Unset: in the chunker's proportion to ``max_size``; with
    ``compat`` 1,500 for grain-growth, and structure-first has none."""
    unit: Literal["tokens", "chars"] | None = None
    """What sizes count: the embedder's own ``tokens``, which is what limits it, or ``chars``. Unset: tokens; characters
    with ``compat``, which knows nothing else."""
    segmenter: PlainName = "sentencex"
    """Registered splitter of sentences. The default knows some 300 languages and needs no model. With ``compat`` the
    package's own are ``punctuation`` and ``sat-9l``, its default; grain-growth splits sentences by itself then."""
    segmenter_model_dir: Path | None = None
    """Folder with the model of a segmenter that needs one, ``model_optimized.onnx`` and ``tokenizer.json``. Another model
    there is another chunker, and every document is cut anew."""
    segmenter_revision: Annotated[str, Matching(pattern=r"^[0-9a-f]{40}$")] | None = None
    """Commit of the segmenter's model in the hub's cache on this machine, in place of a folder. Nothing is downloaded."""
    segmenter_device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:1``, … for such a model. Where a GPU fails, the CPU takes its place with the
    warning ``segmenter.degraded``. No part of the recipe: devices differ only where a probability is at the threshold."""
    segmenter_threshold: Annotated[float, Bounds(above=0, most=1)] | None = None
    """Probability over which such a model ends a sentence, below 1. Unset: the model's own, 0.25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """``[daemon]``: when things happen."""

    settle_seconds: Annotated[float, Bounds(least=0, most=3600)] = 2.0
    """How long a file must be still before it is taken up: longer than an editor takes to save, shorter than patience
    lasts. Raise it for folders that are filled over slow links."""
    rescan: str = "15m"
    """When every root is compared with the ledger: an interval (``90s``, ``15m``, ``6h``, ``1d``) or a cron line of
    five fields (``0 3 * * *``). Events may be lost, scans find what they missed."""
    shutdown_seconds: Seconds = 30.0
    """Time for the work in hand at a stop; what is left then is abandoned, with nothing lost. Below systemd's
    ``TimeoutStopSec``."""
    on_failure: Literal["keep", "retract"] = "keep"
    """When a changed file fails for good: ``keep`` goes on serving its last good version, marked ``stale-served``;
    ``retract`` takes it out of the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootSettings:
    """``[[root]]``: one watched folder with its rules."""

    name: PlainName
    """Name of the root, part of every document's id: another name is another root, and its documents are new."""
    path: Path
    """The folder; ``~`` is your home, a relative path starts at the configuration's folder."""
    include: tuple[str, ...] = ()
    """Glob patterns (gitignore rules) of the files taken; empty: every file of a type that a converter reads."""
    exclude: tuple[str, ...] = ()
    """Glob patterns (gitignore rules) of files and folders left out; they win over ``include``. Temporary names and
    dot-files are left out anyway, and ``.ingestignore`` files are obeyed."""
    collection: CollectionText = "documents"
    """Collection that the root's points go to; several roots may share one."""
    tags: tuple[str, ...] = ()
    """Words put on every point of the root, for ``search --tag``."""
    recursive: bool = True
    """Whether folders below are taken too."""
    follow_links: bool = False
    """Whether symbolic links are followed. Off: a link may lead out of the root, or in a circle. Links that leave the
    root are refused either way."""
    poll: Literal["auto", "always", "never"] = "auto"
    """Whether the folder is scanned more often instead of waiting for events: ``auto`` does so on network file
    systems, which send none."""
    chunker: ChunkerSettings = field(default_factory=ChunkerSettings)
    """``[root.chunker]``: keys of ``[chunker]`` that this root changes; the others hold."""
    converter: RootConverterSettings = field(default_factory=RootConverterSettings)
    """``[root.converter]``: keys of ``[converter]`` that this root changes; ``cache_bytes`` and ``workers`` are one for
    all roots."""
    embedder: RootEmbedderSettings = field(default_factory=RootEmbedderSettings)
    """``[root.embedder]``: another vector space for this root, which then needs a collection of its own: ``name``,
    ``model_dir`` and ``dimension`` of ``[embedder]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole configuration, checked and frozen."""

    instance: PlainName = "default"
    """Name of this installation, part of every id and on every point: installations that share a Qdrant server need
    different ones. Another name is another, empty, installation."""
    store: StoreSettings = field(default_factory=StoreSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    converter: ConverterSettings = field(default_factory=ConverterSettings)
    chunker: ChunkerSettings = field(default_factory=ChunkerSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    roots: tuple[RootSettings, ...] = ()
    """The ``[[root]]`` tables, in the file's order."""
