"""Seconds, memory and word error rate of OCR, on pages of PDFs whose text layer is the right answer.

Each page is drawn at 200 dpi into a PDF of nothing but its picture, and goes through the converter as any file does.

    benchmarks/ocr.py [--engine rapidocr] FILE.pdf[:PAGE] …
"""

import argparse
import hashlib
import io
import re
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image

from ingestd.convert import ConversionCache, Conversions, ConvertOptions
from ingestd.convert.types import PDF
from ingestd.model.identity import Fingerprint

DPI = 200
TURNS = (0, 90, 180)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="rapidocr", choices=("rapidocr", "tesseract"))
    parser.add_argument("pages", nargs="+", metavar="FILE.pdf[:PAGE]")
    given = parser.parse_args()
    print("| page | turned | words | errors in order | words lost | seconds | CPU seconds of it |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for one in given.pages:
            name, _, page = one.partition(":")
            for turn in TURNS:
                measure(Path(folder), Path(name), int(page or 1), turn, given.engine)


def measure(folder: Path, file: Path, page: int, turn: int, engine: str) -> None:
    document = pypdfium2.PdfDocument(file)
    right = words(document[page - 1].get_textpage().get_text_range())
    picture = document[page - 1].render(scale=DPI / 72).to_numpy()[:, :, :3]
    data = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(np.rot90(picture, -turn // 90))).save(data, format="PDF", resolution=DPI)
    scan = folder / f"{turn}.pdf"
    scan.write_bytes(data.getvalue())
    # A process for each: its CPU time is told when it has ended.
    conversions = Conversions(
        options=ConvertOptions(ocr=engine), cache=ConversionCache(folder / str(time.monotonic_ns()), 1 << 30), workers=1
    )
    before, began = children_seconds(), time.monotonic()
    fingerprint = Fingerprint(hashlib.sha256(data.getvalue()).hexdigest())
    made = conversions.convert(
        path=scan, name=file.name, mime=PDF, size=len(data.getvalue()), fingerprint=fingerprint
    ).document
    seconds = time.monotonic() - began
    conversions.close()
    found = words(made.markdown)
    lost = sum(max(0, right.count(word) - found.count(word)) for word in set(right))
    print(
        f"| {file.name} {page} | {turn}° | {len(right)} | {errors(found, right) / len(right):.1%} | "
        f"{lost / len(right):.1%} | {seconds:.1f} | {children_seconds() - before:.1f} |",
        flush=True,
    )


def words(text: str) -> list[str]:
    # Words that a line parts are one, as the converter has them.
    return re.findall(r"\w+", re.sub(r"[\u00ad\ufffe\u0002]\s*|-\s+(?=[a-z])", "", text).lower())


def errors(found: list[str], right: list[str]) -> int:
    """Words to insert, delete or replace: reading order counts."""
    before = list(range(len(found) + 1))
    for row, word in enumerate(right, 1):
        now = [row]
        for column, other in enumerate(found, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (word != other)))
        before = now
    return before[-1]


def children_seconds() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
