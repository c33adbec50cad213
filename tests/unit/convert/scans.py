"""Scans of our own making: text drawn by PDFium, its pixels put into a PDF that holds nothing else."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pypdfium2
from numpy.typing import NDArray

from tests.unit.convert.conftest import Pdf, PdfPage

Pixels = NDArray[np.uint8]
DPI = 200
WORDS = (
    "The keeper of the lighthouse wrote down the wind at six every morning. When the harbour froze, he walked to the "
    "village across the ice and carried the letters in a bag made of sailcloth."
)


def drawn(page: PdfPage, *, width: int = 420, height: int = 300) -> Pixels:
    """The top left of a page, so many points wide and high, as pixels of :data:`DPI`."""
    document = pypdfium2.PdfDocument(Pdf([page]).render())
    picture = document[0].render(scale=DPI / 72).to_numpy()[:, :, :3]
    return np.ascontiguousarray(picture[: height * DPI // 72, : width * DPI // 72])


def turned(picture: Pixels, degrees: int) -> Pixels:
    """Clockwise, by a multiple of 90."""
    return np.ascontiguousarray(np.rot90(picture, -degrees // 90))


def skewed(picture: Pixels, degrees: float) -> Pixels:
    """Clockwise, by a few degrees, on white."""
    from PIL import Image

    image = Image.fromarray(picture).rotate(-degrees, expand=True, fillcolor=(255, 255, 255), resample=2)
    return np.asarray(image)


def scan(*pictures: Pixels) -> bytes:
    """A PDF with a picture a page."""
    from PIL import Image

    images = [Image.fromarray(picture) for picture in pictures]
    made = io.BytesIO()
    images[0].save(made, format="PDF", resolution=DPI, save_all=True, append_images=images[1:])
    return made.getvalue()


def together(*files: bytes) -> bytes:
    """The pages of all files in one."""
    whole = pypdfium2.PdfDocument.new()
    for data in files:
        whole.import_pages(pypdfium2.PdfDocument(data))
    made = io.BytesIO()
    whole.save(made)
    return made.getvalue()


def error_rate(text: str, expected: str) -> float:
    """Words to insert, delete or replace, as a share of the words expected."""
    found, wanted = re.findall(r"\w+", text.lower()), re.findall(r"\w+", expected.lower())
    before = list(range(len(found) + 1))
    for row, word in enumerate(wanted, 1):
        now = [row]
        for column, other in enumerate(found, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (word != other)))
        before = now
    return before[-1] / len(wanted)


@dataclass
class FakeEngine:
    """An engine that reads what it is told, in turn."""

    readings: Sequence[object]
    name: str = "fake"
    identity: dict[str, object] = field(default_factory=lambda: {"engine": "fake"})
    seen: list[Pixels] = field(default_factory=list)

    def versions(self) -> dict[str, str]:
        return {"fake": "1"}

    def load(self) -> None:
        return

    def is_loaded(self) -> bool:
        return True

    def read(self, picture: Pixels) -> object:
        self.seen.append(picture)
        return self.readings[len(self.seen) - 1]
