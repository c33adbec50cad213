"""The weights that come with the rapidocr package, known by their hashes."""

import hashlib
import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ingestd.errors import AdapterUnavailable

PACKAGE = "rapidocr"
INSTALL = 'pip install "ingestd[ocr]"'
DETECTION = "PP-OCRv6_det_small.onnx"
RECOGNITION = "PP-OCRv6_rec_small.onnx"
SHA256 = {
    DETECTION: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    RECOGNITION: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
_FOLDER = "rapidocr/models"


def verified(name: str) -> Path:
    """Path of one of the files, whose bytes are those that are pinned here; nothing is downloaded.

    Raises
    ------
    AdapterUnavailable
        When the package or the file is missing, or the file is another one.
    """
    try:
        file = Path(str(distribution(PACKAGE).locate_file(f"{_FOLDER}/{name}")))
    except PackageNotFoundError as error:
        raise AdapterUnavailable(f"the weights of RapidOCR are not installed: {INSTALL}") from error
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AdapterUnavailable(f"{os.fspath(file)} cannot be read ({error.strerror}): {INSTALL}") from error
    if found != SHA256[name]:
        raise AdapterUnavailable(
            f"{os.fspath(file)} has SHA-256 {found}, not {SHA256[name]}: it was changed, or comes from another release; "
            f"{INSTALL.replace('install', 'install --force-reinstall')}"
        )
    return file
