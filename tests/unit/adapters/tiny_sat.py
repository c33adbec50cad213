"""A SaT model of a few kilobytes, with the inputs, outputs and types of the published ones, and a tokenizer of their kind.

One attention head over hashed embeddings: a token's logit depends on every token of its window, so that two windows
disagree about the tokens that both hold.
"""

from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

MARKS = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = ("the", "one", "see", "and", "ing", "er", "tion", "end")
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()-#*`äöüßéñийкцу的是。！日本語ก👩💻\u200d\ufffd"
WIDTH = 8
FLOAT, INT64, FLOAT16 = 1, 7, 10


def write_model(
    folder: Path, *, seed: int = 7, bias: float = -0.5, mask: int = FLOAT16, output: str = "logits"
) -> Path:
    """Write ``model_optimized.onnx`` and ``tokenizer.json`` into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = tiny_weights(tokenizer.get_vocab_size(), seed, bias)
    (folder / "model_optimized.onnx").write_bytes(graph(weights, mask, output))
    return folder


def tiny_tokenizer() -> Tokenizer:
    """Unigrams after XLM-RoBERTa: its marks and their ids, white space at the start of a word."""
    pieces = [("▁", -2.0), *((f"▁{letter}", -3.0) for letter in ALPHABET), *((letter, -4.0) for letter in ALPHABET)]
    pieces += [(f"▁{word}", -2.5) for word in WORDS] + [(word, -3.5) for word in WORDS]
    known = dict.fromkeys(MARKS, 0.0) | dict(pieces)
    tokenizer = Tokenizer(models.Unigram(list(known.items()), unk_id=MARKS.index("<unk>"), byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s"), " "), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(list(MARKS))
    # As some files of this family have it: both would lose text.
    tokenizer.enable_truncation(512)
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
    return tokenizer


def tiny_weights(size: int, seed: int, bias: float) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "table": random.normal(size=(size, WIDTH)).astype(np.float32),
        "key": random.normal(size=(WIDTH, WIDTH)).astype(np.float32) / 2,
        "out": random.normal(size=(WIDTH, 1)).astype(np.float32),
        "bias": np.array([bias], np.float32),
        "far": np.array([-1e4], np.float32),
        "one": np.array([1], np.float32),
        "middle": np.array([1], np.int64),
    }


def plain_logits(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """What the model computes, in numpy, for one window without padding."""
    vectors = weights["table"][ids]
    scores = vectors @ weights["key"] @ vectors.T
    attention = np.exp(scores - scores.max(axis=1, keepdims=True))
    attention /= attention.sum(axis=1, keepdims=True)
    return ((vectors + attention @ vectors) @ weights["out"] + weights["bias"])[:, 0]


def graph(weights: dict[str, np.ndarray], mask: int = FLOAT16, output: str = "logits") -> bytes:
    """The model in ONNX's own format."""
    nodes = [
        _node("Gather", ["table", "input_ids"], "vectors"),
        _node("MatMul", ["vectors", "key"], "keyed"),
        _node("Transpose", ["vectors"], "turned", _integers("perm", 0, 2, 1)),
        _node("MatMul", ["keyed", "turned"], "scores"),
        _node("Cast", ["attention_mask"], "mask", _integer("to", FLOAT)),
        _node("Unsqueeze", ["mask", "middle"], "row"),
        _node("Sub", ["one", "row"], "absent"),
        _node("Mul", ["absent", "far"], "penalty"),
        _node("Add", ["scores", "penalty"], "masked"),
        _node("Softmax", ["masked"], "attention", _integer("axis", -1)),
        _node("MatMul", ["attention", "vectors"], "mixed"),
        _node("Add", ["vectors", "mixed"], "states"),
        _node("MatMul", ["states", "out"], "raw"),
        _node("Add", ["raw", "bias"], output),
    ]
    body = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, b"tiny")
    body += b"".join(_bytes(5, _tensor(name, value)) for name, value in weights.items())
    body += _bytes(11, _value("input_ids", INT64, "b", "s")) + _bytes(11, _value("attention_mask", mask, "b", "s"))
    body += _bytes(12, _value(output, FLOAT, "b", "s", 1))
    return _number(1, 8) + _bytes(7, body) + _bytes(8, _bytes(1, b"") + _number(2, 17))


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _node(operator: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    made = b"".join(_bytes(1, name.encode()) for name in inputs) + _bytes(2, output.encode())
    return made + _bytes(4, operator.encode()) + b"".join(_bytes(5, one) for one in attributes)


def _integer(name: str, value: int) -> bytes:
    return _bytes(1, name.encode()) + _number(3, value) + _number(20, 2)


def _integers(name: str, *values: int) -> bytes:
    return _bytes(1, name.encode()) + b"".join(_number(8, value) for value in values) + _number(20, 7)


def _tensor(name: str, value: np.ndarray) -> bytes:
    kind = INT64 if value.dtype == np.int64 else FLOAT
    return (
        b"".join(_number(1, side) for side in value.shape)
        + _number(2, kind)
        + _bytes(8, name.encode())
        + _bytes(9, value.tobytes())
    )


def _value(name: str, kind: int, *sides: str | int) -> bytes:
    shape = b"".join(_bytes(1, _number(1, s) if isinstance(s, int) else _bytes(2, s.encode())) for s in sides)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))
