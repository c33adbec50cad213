"""Makers of token counters and segmenters, for processes to find by their names."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ingestd.ports.segmenter import Segmenter
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk.build import words

DEADLY = "deadly"
UNTELLABLE = "untellable"
SECONDS = 60.0
"""Longest wait of a test that fails."""


def make_words() -> Callable[[Sequence[str]], list[int]]:
    return words


def make_punctuation() -> Segmenter:
    return punctuation()


def make_ones() -> Callable[[list[str]], np.ndarray]:
    return ones


def ones(texts: list[str]) -> np.ndarray:
    return np.ones((len(texts), 2))


def make_deadly() -> Callable[[Sequence[str]], list[int]]:
    """Ends the process at a text that holds the word."""
    return _deadly


def make_mute() -> Callable[[Sequence[str]], list[int]]:
    """Raises what cannot be copied at a text that holds the word."""
    return _mute


def make_nothing() -> Callable[[Sequence[str]], list[int]]:
    raise FileNotFoundError("tokenizer.json is gone")


def make_end() -> Callable[[Sequence[str]], list[int]]:
    os._exit(3)


def named_in(folder: Path) -> Callable[[], Callable[[Sequence[str]], list[int]]]:
    """Leaves a file in the folder named for the process."""
    return partial(_named_in, folder)


def stuck_in(folder: Path) -> Callable[[], Callable[[Sequence[str]], list[int]]]:
    """As :func:`named_in`; the counter never returns."""
    return partial(_stuck_in, folder)


class Untellable(Exception):
    """Cannot be copied."""

    def __init__(self, one: str, _two: str) -> None:
        super().__init__(one)


def _deadly(texts: Sequence[str]) -> list[int]:
    if any(DEADLY in text for text in texts):
        os.kill(os.getpid(), signal.SIGKILL)
    return words(texts)


def _mute(texts: Sequence[str]) -> list[int]:
    if any(UNTELLABLE in text for text in texts):
        raise Untellable("no tokens", "at all")
    return words(texts)


def _named_in(folder: Path) -> Callable[[Sequence[str]], list[int]]:
    (folder / str(os.getpid())).touch()
    return words


def _stuck_in(folder: Path) -> Callable[[Sequence[str]], list[int]]:
    (folder / str(os.getpid())).touch()
    return lambda texts: [0 for _ in texts if threading.Event().wait()]
