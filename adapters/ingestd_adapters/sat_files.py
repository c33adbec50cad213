"""Where the files of a SaT model lie on this machine."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ingestd.errors import AdapterUnavailable, ConfigurationError

WEIGHTS = "model_optimized.onnx"
TOKENIZER = "tokenizer.json"
_OWNER = "segment-any-text"
_TOKENIZERS = ("facebookAI/xlm-roberta-base", "FacebookAI/xlm-roberta-base", "xlm-roberta-base")
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Large models keep their numbers in a second file, beside the first.
_BESIDE = ("_data", ".data")

_hashes: dict[tuple[str, int, int, int], str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """Files that a model is loaded from."""

    weights: Path
    tokenizer: Path

    @property
    def weights_sha256(self) -> str:
        """Hash of the weights; of all their files, where they have several."""
        beside = [Path(f"{self.weights}{suffix}") for suffix in _BESIDE]
        found = [sha256_of(file) for file in (self.weights, *(file for file in beside if file.exists()))]
        return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()

    @property
    def tokenizer_sha256(self) -> str:
        """Hash of the tokenizer."""
        return sha256_of(self.tokenizer)


def model_files(model: str, *, folder: Path | None, revision: str | None) -> ModelFiles:
    """Files of a model in a folder, or of a revision in the hub's cache; nothing is downloaded.

    Parameters
    ----------
    model
        Name of its repository, such as ``sat-3l-sm``.
    folder
        Holds ``model_optimized.onnx`` and ``tokenizer.json``.
    revision
        Commit, or the name of a branch as it was when downloaded.

    Raises
    ------
    AdapterUnavailable
        When a file is missing; names the folder looked at and the way out.
    ConfigurationError
        When folder and revision are both given.
    """
    if folder is not None and revision is not None:
        raise ConfigurationError(
            f"the segmenter's model {model!r} has a folder ({folder}) and a revision ({revision}): keep one of them"
        )
    if folder is not None:
        return ModelFiles(weights=_there(folder / WEIGHTS, model), tokenizer=_there(folder / TOKENIZER, model))
    cache = hub_cache(os.environ)
    if revision is None:
        raise AdapterUnavailable(_not_pinned(model, cache))
    snapshot = _snapshot(cache, f"{_OWNER}/{model}", revision)
    if snapshot is None:
        raise AdapterUnavailable(
            f"{_repository(cache, f'{_OWNER}/{model}')} does not hold revision {revision} of the segmenter's model "
            f"{model!r}; {_way_out(model, revision)}"
        )
    return ModelFiles(weights=_there(snapshot / WEIGHTS, model, revision), tokenizer=_tokenizer(cache, snapshot, model))


def hub_cache(environment: Mapping[str, str]) -> Path:
    """Folder that the hub's own tools download to."""
    if environment.get("HF_HUB_CACHE"):
        return Path(environment["HF_HUB_CACHE"]).expanduser()
    if environment.get("HF_HOME"):
        return Path(environment["HF_HOME"]).expanduser() / "hub"
    caches = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "huggingface" / "hub"


def sha256_of(file: Path) -> str:
    """Hash of a file's bytes, computed once as long as its size, time and inode stay.

    Raises
    ------
    AdapterUnavailable
        When the file cannot be read.
    """
    try:
        stat = file.stat()
        known = (os.fspath(file), stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if known not in _hashes:
            with file.open("rb") as stream:
                _hashes[known] = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AdapterUnavailable(f"{file} cannot be read ({error.strerror}): give read access") from error
    return _hashes[known]


def _tokenizer(cache: Path, snapshot: Path, model: str) -> Path:
    own = snapshot / TOKENIZER
    if own.is_file():
        return own
    for repository in _TOKENIZERS:
        shared = _snapshot(cache, repository, "main")
        if shared is not None and (shared / TOKENIZER).is_file():
            return shared / TOKENIZER
    raise AdapterUnavailable(
        f"the tokenizer of the segmenter's model {model!r} is neither {own} nor in {_repository(cache, _TOKENIZERS[0])}: "
        f"download it with `hf download {_TOKENIZERS[0]} {TOKENIZER}`, or put both files into a folder and set "
        "chunker.segmenter_model_dir to it"
    )


def _snapshot(cache: Path, repository: str, revision: str) -> Path | None:
    folder = _repository(cache, repository)
    if not _COMMIT.fullmatch(revision):
        try:
            revision = (folder / "refs" / revision).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        if not _COMMIT.fullmatch(revision):
            return None
    snapshot = folder / "snapshots" / revision
    return snapshot if snapshot.is_dir() else None


def _repository(cache: Path, repository: str) -> Path:
    return cache / f"models--{repository.replace('/', '--')}"


def _there(file: Path, model: str, revision: str | None = None) -> Path:
    if not file.is_file():
        raise AdapterUnavailable(
            f"{file.parent} does not hold {file.name} of the segmenter's model {model!r}; {_way_out(model, revision)}"
        )
    return file


def _not_pinned(model: str, cache: Path) -> str:
    folder = _repository(cache, f"{_OWNER}/{model}") / "snapshots"
    found = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if found:
        return (
            f"the segmenter's model {model!r} needs a pinned revision: set chunker.segmenter_revision to one that "
            f"{folder} holds ({', '.join(found)})"
        )
    return f"{folder} holds no revision of the segmenter's model {model!r}; {_way_out(model, None)}"


def _way_out(model: str, revision: str | None) -> str:
    chosen = f" --revision {revision}" if revision else ""
    return (
        f"download it with `hf download {_OWNER}/{model} {WEIGHTS}{chosen}` and set chunker.segmenter_revision to its "
        f"commit, or put {WEIGHTS} and {TOKENIZER} into a folder and set chunker.segmenter_model_dir to it"
    )
