"""Writes the binary files of examples/sample: two PDFs of several pages and a DOCX, always the same bytes.

``python examples/make_sample.py``; needs python-docx, which comes with the ``docling`` extra.
"""

import datetime as dt
import io
import textwrap
import zipfile
from pathlib import Path

from docx import Document

SAMPLE = Path(__file__).parent / "sample"
WIDTH, HEIGHT, MARGIN = 595, 842, 70
STYLES = {"# ": ("F2", 20, 52), "## ": ("F2", 14, 74), "": ("F1", 10.5, 88)}
"""Mark at the line's start: font, size in points, characters a line."""

INSPECTION = """\
# Inspection of the Mill Street footbridge

The footbridge carries the path from Mill Street to the allotments over the weir. It was built of larch in 1987 and was \
inspected from both banks and from a boat at low water.

## Summary

The bridge is safe for people and bicycles until the next inspection in two years. Two planks have to be replaced this \
autumn, the handrail on the upstream side needs a new bolt, and the foundation on the left bank must be watched: the river \
has washed out gravel below it to a depth of forty centimetres.

## Deck

The planks were struck with a hammer, one after the other, and pierced with an awl where they sounded dull. Plank 14 and \
plank 31 gave way under the awl by more than two centimetres: they are rotten from below, where the joists hold water. The \
others are sound. The anti-slip strips are worn in the middle third and may be renewed together with the planks.
\f
## Load-bearing beams

Both main beams were measured for moisture at eleven points each. The values lie between 15 and 19 per cent, which is dry \
for timber over water. At the right-hand bearing of the downstream beam a crack of 60 centimetres runs along the grain. It \
was there at the last inspection, has the same length, and was marked again with a date.

## Bearings and foundations

On the right bank the concrete is without fault. On the left bank the river has moved since the weir was rebuilt, and the \
gravel in front of the foundation is gone to a depth of forty centimetres over a length of two metres. The sheet piling \
behind it still stands in firm ground. Stones of at least 60 kilograms should be laid in front of it before the winter \
floods; eight tonnes will do.
\f
## Handrail

The handrail was loaded with 50 kilograms sideways at each post. Post 6 upstream moved by four centimetres, because the \
lower of its two bolts is missing. A bolt M16 of stainless steel, 220 millimetres long, with two washers, fits.

## Measures and costs

Replace planks 14 and 31, by the municipal yard, 380 euros. New bolt at post 6, by the municipal yard, 25 euros. Stones in \
front of the left foundation, by a contractor with an excavator, 2,900 euros. Renew the anti-slip strips, by the municipal \
yard, 410 euros. The stones come first: without them the next inspection is due in one year instead of two.
"""

COFFEE = """\
# Roasting coffee at home

Green beans keep for a year, roasted ones for a month. Who roasts at home drinks fresh coffee, and learns that the same \
bean can taste of lemon or of chocolate, depending on five minutes.

## What you need

A heavy iron pan or a popcorn machine, a scale, a timer, a colander of metal for cooling, and a window that opens. Start \
with 150 grams of beans. More will not be heated evenly, less burns before you notice.
\f
## The stages

### Drying

For the first five minutes the beans only lose water. They turn from green to yellow and smell of hay. Keep the heat \
moderate and keep stirring.

### First crack

At about 196 degrees Celsius the beans crack like popcorn, only softer. Steam breaks their cells open. From here on they \
are drinkable: light, sour, flowery. Lower the heat now, or the next stage follows within a minute.

### Second crack

At about 224 degrees a second, finer crackling begins, like paper being crumpled. Oil comes to the surface. Stop before it \
if you like fruit, shortly after it if you like it dark. Another minute makes charcoal.
\f
## Cooling and resting

Tip the beans into the colander and shake them at the open window until they are cool to the hand, within four minutes. Slow \
cooling bakes them and makes them taste flat.

Let them rest for two days in a jar with the lid ajar: fresh beans give off so much carbon dioxide that the water cannot get \
at them. After that close the jar. The best week is from the third day to the tenth.
"""


def main() -> None:
    reports = SAMPLE / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    (reports / "footbridge-inspection.pdf").write_bytes(pdf(INSPECTION))
    (SAMPLE / "coffee-roasting.pdf").write_bytes(pdf(COFFEE))
    (reports / "garden-minutes.docx").write_bytes(minutes())


def pdf(text: str) -> bytes:
    """PDF of one page for each form feed apart, in the standard fonts."""
    streams = [page(part, number) for number, part in enumerate(text.split("\f"), 1)]
    title = text.splitlines()[0].removeprefix("# ")
    kids = " ".join(f"{6 + 2 * index} 0 R" for index in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) /Author (the ingestd authors) >>".encode(),
    ]
    for index, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {7 + 2 * index} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    return assembled(objects)


def page(text: str, number: int) -> bytes:
    """Content stream of one page."""
    drawn: list[str] = []
    y = HEIGHT - MARGIN
    for paragraph in text.strip().split("\n\n"):
        level = len(paragraph) - len(paragraph.lstrip("#"))
        mark = {0: "", 1: "# "}.get(level, "## ")
        font, size, width = STYLES[mark]
        size -= 2 if level == 3 else 0
        y -= 12 if mark else 0
        for line in textwrap.wrap(paragraph.lstrip("# "), width):
            escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            drawn.append(f"BT /{font} {size} Tf {MARGIN} {y} Td ({escaped}) Tj ET")
            y -= round(size * 1.4)
        y -= 8
    drawn.append(f"BT /F1 8 Tf {WIDTH / 2:g} 40 Td ({number}) Tj ET")
    return "\n".join(drawn).encode("cp1252")


def assembled(objects: list[bytes]) -> bytes:
    """File of the objects, with its cross-reference table; the first is the catalog, the fifth the information."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def minutes() -> bytes:
    document = Document()
    document.core_properties.author = "the ingestd authors"
    document.core_properties.title = "Minutes of the garden association"
    document.core_properties.created = document.core_properties.modified = dt.datetime(2026, 1, 1)  # noqa: DTZ001
    document.add_heading("Minutes of the garden association", 0)
    document.add_paragraph("Present: eleven of fourteen members. The minutes of the last meeting were accepted.")
    document.add_heading("Rain barrels", 1)
    document.add_paragraph(
        "The association buys six barrels of 300 litres together. Each stands behind the tool shed of its garden and is "
        "emptied before the first frost, since last winter two of them burst."
    )
    document.add_heading("Dates", 1)
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "what", "when"
    for what, when in (("seed exchange", "14 March"), ("compost delivery", "2 April"), ("summer party", "27 June")):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = what, when
    document.add_heading("Hedgehogs", 1)
    document.add_paragraph(
        "The gap below the eastern fence stays open, so that the hedgehogs can pass. Leaves stay where they fall."
    )
    for point in ("No netting on the ground.", "No slug pellets.", "Water in a flat bowl, never milk."):
        document.add_paragraph(point, style="List Bullet")
    written = io.BytesIO()
    document.save(written)
    return with_fixed_times(written.getvalue())


def with_fixed_times(archive: bytes) -> bytes:
    """The archive with one date on all its members, so that the bytes are the same at each run."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


if __name__ == "__main__":
    main()
