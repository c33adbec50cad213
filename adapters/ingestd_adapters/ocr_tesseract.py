"""Lines of a picture by the tesseract program, where it is installed with the data of the languages."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ingestd.errors import AdapterUnavailable, ConversionCrashed
from ingestd_adapters.ocr_engine import Line, OcrEngine, Picture, Reading
from ingestd_adapters.ocr_turn import TURNS

NAME = "tesseract"
_VERSION = 1
_DEFAULT_LANGUAGES = ("eng",)
_ORIENTATION = "osd"
_FOLDER = re.compile(r'in "([^"]+)"')
_ROTATE = re.compile(r"^Rotate: (\d+)$", re.MULTILINE)
_WORD_LEVEL = "5"
_LOOK_SECONDS = 30


def tesseract(languages: Sequence[str]) -> OcrEngine:
    """Tesseract 5 with the data of these languages, English where none is named.

    Parameters
    ----------
    languages
        As its data files are called: ``eng``, ``deu``, ``chi_sim``.

    Raises
    ------
    AdapterUnavailable
        When the program, or the data of one of the languages, is not installed.
    """
    program = shutil.which(NAME)
    if program is None:
        raise AdapterUnavailable("tesseract is not installed: install the package tesseract-ocr of your system")
    wanted = tuple(languages) or _DEFAULT_LANGUAGES
    folder = _data_folder(program)
    missing = [language for language in wanted if not (folder / f"{language}.traineddata").is_file()]
    if missing:
        raise AdapterUnavailable(
            f"{folder} holds no data of {', '.join(missing)} for tesseract: install the package tesseract-ocr-"
            f"{missing[0].replace('_', '-')}, or correct converter.ocr_languages"
        )
    turns = (folder / f"{_ORIENTATION}.traineddata").is_file()
    return _Tesseract(program, folder, wanted, finds_turns=turns)


class _Tesseract:
    """The program, run twice a picture: which way up it stands, then what it says."""

    name = NAME

    def __init__(self, program: str, folder: Path, languages: tuple[str, ...], *, finds_turns: bool) -> None:
        self._program = program
        self._languages = languages
        self._finds_turns = finds_turns
        files = (*languages, *((_ORIENTATION,) if finds_turns else ()))
        self.identity: Mapping[str, Any] = {
            "engine": NAME,
            "version": _VERSION,
            "languages": list(languages),
            "weights_sha256": {name: _hash(folder / f"{name}.traineddata") for name in files},
        }

    def versions(self) -> Mapping[str, str]:
        """Version of the program."""
        said = _run([self._program, "--version"], b"").stdout.decode("utf-8", "replace").split()
        return {NAME: said[1] if len(said) > 1 else "unknown"}

    def is_loaded(self) -> bool:
        """Another process holds its data."""
        return False

    def load(self) -> None:
        """Nothing is kept between pictures."""

    def read(self, picture: Picture) -> Reading:
        """Lines of a picture that may lie on a side or upside down."""
        turned = self._turn(picture) if self._finds_turns else 0
        if turned:
            picture = np.ascontiguousarray(np.rot90(picture, -TURNS.index(turned)))
        command = [self._program, "-", "-", "-l", "+".join(self._languages), "--psm", "3", "tsv"]
        done = _run(command, _as_ppm(picture))
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise ConversionCrashed(f"tesseract failed on a page (exit status {done.returncode}): {said}")
        return Reading(lines=tuple(_lines(done.stdout.decode("utf-8", "replace"))), turned=turned)

    def _turn(self, picture: Picture) -> int:
        done = _run([self._program, "-", "-", "--psm", "0", "-l", _ORIENTATION], _as_ppm(picture))
        # With too few letters on the page it gives up: the page stays as it is.
        found = _ROTATE.search(done.stdout.decode("utf-8", "replace"))
        return int(found[1]) % 360 if found and int(found[1]) % 360 in TURNS else 0


def _lines(table: str) -> list[Line]:
    """Words of the program's table, joined by the lines that it found."""
    lines: dict[tuple[str, ...], list[list[str]]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == _WORD_LEVEL and cells[11].strip():
            lines.setdefault(tuple(cells[1:5]), []).append(cells)
    return [_line(words) for words in lines.values()]


def _line(words: list[list[str]]) -> Line:
    boxes = [tuple(map(float, word[6:10])) for word in words]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    confidence = sum(max(0.0, float(word[10])) for word in words) / len(words) / 100
    return Line(
        text=" ".join(word[11].strip() for word in words),
        confidence=confidence,
        corners=((left, top), (right, top), (right, bottom), (left, bottom)),
    )


def _as_ppm(picture: Picture) -> bytes:
    height, width = picture.shape[:2]
    return b"P6\n%d %d\n255\n" % (width, height) + np.ascontiguousarray(picture[:, :, ::-1]).tobytes()


def _data_folder(program: str) -> Path:
    found = _FOLDER.search(_run([program, "--list-langs"], b"").stdout.decode("utf-8", "replace"))
    if found is None:
        raise AdapterUnavailable(f"{program} does not say where its data lies: tesseract 5 or newer is needed")
    return Path(found[1])


def _run(command: list[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    # The pictures' time is bounded by the document's deadline, which kills the whole group.
    quick = None if stdin else _LOOK_SECONDS
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        return subprocess.run(  # noqa: S603  # the program is what the system's path names, arguments are no shell's
            command, input=stdin, capture_output=True, check=False, timeout=quick, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AdapterUnavailable(f"{command[0]} cannot be run ({error}): install tesseract 5 again") from error


@cache
def _hash(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AdapterUnavailable(f"{file} cannot be read ({error.strerror}): give read access") from error
