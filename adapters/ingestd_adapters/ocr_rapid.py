"""Lines of a picture by RapidOCR: its package's weights through onnxruntime, without its downloads."""

import importlib
import importlib.metadata
import importlib.util
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd_adapters.ocr_engine import Line, OcrEngine, Picture, Reading
from ingestd_adapters.ocr_turn import TURNS, Quad, is_tall, upright
from ingestd_adapters.ocr_weights import DETECTION, INSTALL, PACKAGE, RECOGNITION, SHA256, verified

NAME = "rapidocr"
_VERSION = 1
_LONG_SIDE = 1_280
"""Pixels of the longer side on which text is looked for: 2.4 times less work than at 200 dpi for the same lines."""
_SHARE, _LONGEST_SIDE = 0.55, 2_560
"""Of a page longer than A4 it is this share, so that its letters are as large as there, up to so many pixels."""
_MOST_THREADS = 2
_WIDEST = 200
"""Lines are read up to this width in heights: what is longer is a rule, or made to use memory up."""
_UNREADABLE = frozenset(
    {"ara", "fas", "heb", "urd", "rus", "ukr", "bel", "bul", "srp", "mkd", "kor", "hin", "ben", "tam", "tel", "tha", "vie"}
)  # fmt: skip
"""Languages whose letters are not among the 18,708 characters of the weights (looked up, 2026-12)."""


def rapidocr(languages: Sequence[str]) -> OcrEngine:
    """RapidOCR with its own weights, which read Latin, Greek, Chinese and Japanese letters alike.

    Raises
    ------
    AdapterUnavailable
        When a package is missing.
    ConfigurationError
        When one of the languages is written in letters that the weights do not know.
    """
    for module in (PACKAGE, "cv2", "onnxruntime"):
        if importlib.util.find_spec(module) is None:
            raise AdapterUnavailable(f"{module} is not installed, without which RapidOCR reads nothing: {INSTALL}")
    if strange := sorted(_UNREADABLE.intersection(languages)):
        raise ConfigurationError(
            f"converter.ocr_languages names {', '.join(strange)}, which RapidOCR's weights cannot read: "
            'set converter.ocr = "tesseract", with the data of these languages installed'
        )
    return _RapidOcr()


class _RapidOcr:
    """One pair of models; one picture at a time."""

    name = NAME
    identity: Mapping[str, Any] = MappingProxyType(
        {
            "engine": NAME,
            "version": _VERSION,
            "long_side": _LONG_SIDE,
            "detection_sha256": SHA256[DETECTION],
            "recognition_sha256": SHA256[RECOGNITION],
        }
    )

    def __init__(self) -> None:
        self._engines: dict[str, Any] = {}

    def versions(self) -> Mapping[str, str]:
        """Versions of the packages that decide what is read."""
        return {name: importlib.metadata.version(name) for name in (PACKAGE, "onnxruntime")}

    def is_loaded(self) -> bool:
        """Whether the models are in memory."""
        return bool(self._engines)

    def load(self) -> None:
        """Verify the weights, then import the engines, which takes two seconds."""
        if self._engines:
            return
        detection, recognition = verified(DETECTION), verified(RECOGNITION)
        found = importlib.import_module("rapidocr.ch_ppocr_det")
        # It says at INFO, in colours, what it loads.
        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        read = importlib.import_module("rapidocr.ch_ppocr_rec")
        # The process may run beside others: only the models get threads.
        importlib.import_module("cv2").setNumThreads(1)
        settings = _settings()
        # Sessions of our own: the package's would download what it misses, and spin while they wait.
        self._engines["find"] = found.TextDetector(_with_session(settings.Det, os.fspath(detection)))
        self._engines["read"] = read.TextRecognizer(_with_session(settings.Rec, os.fspath(recognition)))
        self._engines["input"] = read.TextRecInput
        self._engines["crop"] = importlib.import_module("rapidocr.utils.process_img").get_rotate_crop_image

    def read(self, picture: Picture) -> Reading:
        """Lines of a picture that may lie on a side or upside down."""
        self.load()
        quads = self._found(picture)
        if not quads:
            return Reading(lines=(), turned=0)
        turned = upright(quads, lambda quad, turn: self._read(_turned(self._crop(picture, quad), turn))[1])
        if turned:
            picture = _turned(picture, turned)
            quads = self._found(picture)
        return Reading(lines=tuple(self._line(picture, quad) for quad in quads), turned=turned)

    def _found(self, picture: Picture) -> list[Quad]:
        longest = min(_LONGEST_SIDE, max(_LONG_SIDE, int(_SHARE * max(picture.shape[:2]))))
        self._engines["find"].limit_side_len = longest
        boxes = _within_memory(lambda: self._engines["find"](picture)).boxes
        return [] if boxes is None else [np.asarray(box, dtype=np.float32) for box in boxes]

    def _line(self, picture: Picture, quad: Quad) -> Line:
        crop = self._crop(picture, quad)
        text, confidence = self._read(crop)
        if is_tall(quad):
            # It was stood on its left side, and may as well run the other way.
            text, confidence = max((text, confidence), self._read(_turned(crop, 180)), key=lambda read: read[1])
        first, second, third, fourth = ((float(x), float(y)) for x, y in quad)
        return Line(text=text.strip(), confidence=confidence, corners=(first, second, third, fourth))

    def _crop(self, picture: Picture, quad: Quad) -> Picture:
        # It stands a crop that is taller than wide on its left side.
        crop: Picture = self._engines["crop"](picture, quad.copy())
        return crop[:, : _WIDEST * crop.shape[0]]

    def _read(self, crop: Picture) -> tuple[str, float]:
        if min(crop.shape[:2]) < 2:
            return "", 0.0
        # One at a time: what a line reads never depends on its neighbours, and a batch is no faster (2026-12).
        line = self._engines["input"](img=crop, return_word_box=False)
        result = _within_memory(lambda: self._engines["read"](line))
        return str(result.txts[0]), float(result.scores[0])


def _within_memory(work: Callable[[], Any]) -> Any:
    failed: Any = importlib.import_module("rapidocr.inference_engine.onnxruntime.main").ONNXRuntimeError
    try:
        return work()
    except failed as error:
        # The engine has no class of its own for this.
        if "alloc" in str(error):
            raise MemoryError("no memory for the picture of a page") from error
        raise


def _turned(picture: Picture, degrees: int) -> Picture:
    """The picture, turned clockwise."""
    return np.ascontiguousarray(np.rot90(picture, -TURNS.index(degrees)))


def _settings() -> Any:
    module = importlib.import_module("rapidocr.utils.parse_parameters")
    path = importlib.import_module("rapidocr.main").DEFAULT_CFG_PATH
    settings = module.ParseParams.load(path)
    settings.Det.limit_type, settings.Det.limit_side_len = "max", _LONG_SIDE
    settings.Rec.rec_batch_num = 1
    settings.Rec.font_path = None
    return settings


def _with_session(settings: Any, weights: str) -> Any:
    configuration = importlib.import_module("omegaconf").OmegaConf
    values = configuration.to_container(settings)
    return configuration.create({**values, "session": _session(weights)}, flags={"allow_objects": True})


def _session(weights: str) -> Any:
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    # As for the embedder: the arena never shrinks, patterns are kept for each shape, waiting threads spin.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = min(_MOST_THREADS, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
