"""Documents from files: the cache, the choice of a converter, the process that runs it."""

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestd import registry
from ingestd.convert.admission import admit
from ingestd.convert.cache import ConversionCache
from ingestd.convert.choice import preferred, refusal
from ingestd.convert.naming import renamed
from ingestd.convert.options import ConvertOptions
from ingestd.convert.pool import Pool
from ingestd.convert.result import finished
from ingestd.convert.types import ZIPPED, promised
from ingestd.errors import AdapterUnavailable, UnsupportedType
from ingestd.model.document import Document, document_from_json
from ingestd.model.identity import Fingerprint
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter, HasPlainStage, ReadsBytes

_SCRATCH = "scratch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A document, and how it was come by."""

    document: Document
    reused: bool
    """It came from the cache."""
    seconds: float
    """Wall-clock time of the conversion, or of the look into the cache."""


class Conversions:
    """Converters of one owner. Safe from any thread; at most ``workers`` child processes convert at a time."""

    def __init__(self, *, options: ConvertOptions, cache: ConversionCache, workers: int) -> None:
        """Start nothing: each converter's process starts with its first file."""
        self._options = options
        self._cache = cache
        self._slots = threading.Semaphore(max(1, workers))
        self._lock = threading.Lock()
        self._chosen: dict[str, Converter | UnsupportedType] = {}
        self._pools: dict[str, Pool] = {}
        self._scratch = cache.directory / _SCRATCH
        _sweep(self._scratch)

    def stage_for(self, mime: str) -> Stage:
        """Identity of the conversion that files of this type get.

        Raises
        ------
        UnsupportedType
            When no installed converter takes the type; names the extra that would.
        ConfigurationError
            When the converter named in the options is not registered.
        """
        return self._converter(mime).stage

    def size_limit(self, name: bytes) -> int:
        """Largest admitted file of this name, in bytes, before its content is known: magic may still decide."""
        mime = promised(name)
        return self._options.size_limit(mime) if mime else self._options.pdf_bytes

    def reads_bytes(self, mime: str) -> bool:
        """Whether :meth:`convert` takes files of this type from memory; false where nothing reads the type."""
        chosen = self._look_up(mime)
        if isinstance(chosen, UnsupportedType) or mime in ZIPPED:
            return False
        return chosen.in_process and isinstance(chosen, ReadsBytes)

    def is_cached(self, fingerprint: Fingerprint, mime: str) -> bool:
        """Whether the conversion of these bytes is in the cache."""
        converter = self._converter(mime)
        return self._cache.has(fingerprint, converter.stage.digest) or self._kept(converter, fingerprint) is not None

    def cached(self, fingerprint: Fingerprint, mime: str, name: str) -> Document | None:
        """Document kept of these bytes, under the file name ``name``; ``None`` when none is kept."""
        kept = self._kept(self._converter(mime), fingerprint)
        return None if kept is None else renamed(kept, name)

    def convert(self, *, path: Path | bytes, name: str, mime: str, size: int, fingerprint: Fingerprint) -> Converted:
        """Document of one file.

        Parameters
        ----------
        path
            Where the staged bytes are, whose hash is the fingerprint; or these bytes, where :meth:`reads_bytes` says so.
        name
            File name for people and titles.
        mime
            As :func:`ingestd.convert.types.mime_of` gives it.
        size
            Bytes of the file.
        fingerprint
            SHA-256 of the bytes.

        Raises
        ------
        PermanentError
            With the reason why the file cannot be converted; never kept in the cache.
        TransientError
            When the converters are being closed, or the cache's disk is full.
        """
        began = time.monotonic()
        converter = self._converter(mime)
        kept = self._kept(converter, fingerprint)
        if kept is not None:
            return Converted(document=renamed(kept, name), reused=True, seconds=time.monotonic() - began)
        admit(file=path, mime=mime, size=size, name=name, options=self._options)
        document = self._run(converter, path, name, mime)
        self._keep(converter, fingerprint, document)
        return Converted(document=document, reused=False, seconds=time.monotonic() - began)

    def close(self) -> None:
        """Kill the converters' processes; conversions in hand end with a ``TransientError``."""
        with self._lock:
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()
        with contextlib.suppress(OSError):
            self._scratch.rmdir()

    def _kept(self, converter: Converter, fingerprint: Fingerprint) -> Document | None:
        """The document kept of these bytes, also one that was made without an option which it does not need."""
        digest = converter.stage.digest
        kept = self._cache.get(fingerprint, digest)
        if kept is not None or not isinstance(converter, HasPlainStage) or converter.plain_stage.digest == digest:
            return kept
        plain = self._cache.get(fingerprint, converter.plain_stage.digest)
        if plain is None or not converter.is_plain(plain):
            return None
        self._cache.share(fingerprint, converter.plain_stage.digest, digest)
        return plain

    def _keep(self, converter: Converter, fingerprint: Fingerprint, document: Document) -> None:
        digest = converter.stage.digest
        self._cache.put(fingerprint, digest, document)
        if isinstance(converter, HasPlainStage) and converter.is_plain(document):
            self._cache.share(fingerprint, digest, converter.plain_stage.digest)

    def _converter(self, mime: str) -> Converter:
        chosen = self._look_up(mime)
        if isinstance(chosen, UnsupportedType):
            raise UnsupportedType(str(chosen))
        return chosen

    def _look_up(self, mime: str) -> Converter | UnsupportedType:
        with self._lock:
            if mime not in self._chosen:
                self._chosen[mime] = self._choose(mime)
            return self._chosen[mime]

    def _choose(self, mime: str) -> Converter | UnsupportedType:
        names = preferred(mime, self._options)
        reasons: list[str] = []
        for name in names:
            try:
                converter: Converter = registry.factory("converters", name)(adapter_options(name, self._options))
            except AdapterUnavailable as error:
                if len(names) == 1:
                    return UnsupportedType(f"{mime}: {error}")
                continue
            if mime in converter.mimes:
                return converter
            reasons.append(f"the converter {name!r} does not read {mime}")
        return UnsupportedType("; ".join([*reasons, str(refusal(mime))])) if len(names) == 1 else refusal(mime)

    def _run(self, converter: Converter, file: Path | bytes, name: str, mime: str) -> Document:
        if isinstance(file, bytes):
            if not isinstance(converter, ReadsBytes):
                raise TypeError(f"the converter {converter.stage.name!r} reads files, not bytes in memory")
            return finished(converter.convert_bytes(file, name), name)
        if converter.in_process:
            return finished(converter.convert(ConversionRequest(path=file, name=name, mime=mime)), name)
        with self._slots:
            pool = self._pool(converter.stage.name)
            return document_from_json(json.loads(pool.convert(path=file, name=name, mime=mime)))

    def _pool(self, name: str) -> Pool:
        with self._lock:
            if name not in self._pools:
                self._pools[name] = Pool(name, adapter_options(name, self._options), self._options, self._scratch)
            return self._pools[name]


def adapter_options(name: str, options: ConvertOptions) -> Mapping[str, Any]:
    """What a converter's factory is given, JSON values only."""
    if name != "liteparse":
        return {}
    return {
        "max_pages": options.max_pages,
        "ocr": options.ocr,
        "ocr_languages": list(options.ocr_languages),
        "max_ocr_pages": options.max_ocr_pages,
    }


def _sweep(scratch: Path) -> None:
    """Remove folders that processes of dead owners left."""
    for folder in _folders(scratch):
        owner = folder.name.partition("-")[0]
        if not owner.isdigit() or not _lives(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _folders(scratch: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from list(scratch.iterdir())


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
