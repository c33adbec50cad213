"""Files made on the spot, and a converter that misbehaves on demand."""

import hashlib
import io
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingestd.convert import ConversionCache, Conversions, Converted, ConvertOptions, mime_of
from ingestd.model.document import Block, BlockType, Document
from ingestd.model.identity import Fingerprint

WIDTH, HEIGHT = 595, 842
PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


@dataclass
class PdfPage:
    """Lines as ``(x, y from the top, font size, text)``; or nothing but a picture."""

    lines: Sequence[tuple[float, float, float, str]] = ()
    rotate: int = 0
    picture: bool = False

    def content(self) -> bytes:
        if self.picture:
            return b"q 400 0 0 400 50 300 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xff\xff\x00 EI Q"
        parts = []
        for x, y, size, text in self.lines:
            escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            font = "F2" if size > 12 else "F1"
            parts.append(f"BT /{font} {size} Tf {x} {HEIGHT - y} Td ({escaped}) Tj ET")
        return "\n".join(parts).encode("latin-1")


@dataclass
class Pdf:
    pages: Sequence[PdfPage]
    info: str = ""
    outline: Sequence[tuple[str, int]] = field(default_factory=tuple)
    """Title and 0-based page of each bookmark."""
    password: str = ""

    def render(self) -> bytes:
        objects: dict[int, bytes] = {
            3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
            5: f"<< {self.info} >>".encode("latin-1"),
        }
        kids = []
        for index, page in enumerate(self.pages):
            number = 10 + 2 * index
            kids.append(f"{number} 0 R")
            content = page.content()
            objects[number] = (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {page.rotate} "
                f"/Contents {number + 1} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
            ).encode()
            objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
        objects[2] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
        objects[1] = b"<< /Type /Catalog /Pages 2 0 R" + self._outline(objects) + b" >>"
        return self._file(objects)

    def _outline(self, objects: dict[int, bytes]) -> bytes:
        if not self.outline:
            return b""
        first = 1000
        for index, (title, page) in enumerate(self.outline):
            links = f"/Prev {first + index - 1} 0 R " if index else ""
            links += f"/Next {first + index + 1} 0 R " if index + 1 < len(self.outline) else ""
            target = f"[{10 + 2 * page} 0 R /XYZ 0 {HEIGHT} 0]"
            objects[first + index] = f"<< /Title ({title}) /Parent 999 0 R {links}/Dest {target} >>".encode()
        last = first + len(self.outline) - 1
        objects[999] = f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(self.outline)} >>".encode()
        return b" /Outlines 999 0 R"

    def _file(self, objects: dict[int, bytes]) -> bytes:
        out = bytearray(b"%PDF-1.4\n")
        places: dict[int, int] = {}
        for number in sorted(objects):
            places[number] = len(out)
            out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
        start = len(out)
        size = max(objects) + 1
        out += b"xref\n0 1\n0000000000 65535 f \n"
        for number in sorted(objects):
            out += b"%d 1\n%010d 00000 n \n" % (number, places[number])
        out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R %s >>\n" % (size, self._encrypted())
        return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)

    def _encrypted(self) -> bytes:
        if not self.password:
            return b""
        identity, permissions = b"0123456789abcdef", -4
        user = (self.password.encode() + PAD)[:32]
        owner = rc4(hashlib.md5(user).digest()[:5], user)
        key = hashlib.md5(user + owner + permissions.to_bytes(4, "little", signed=True) + identity).digest()[:5]
        return (
            f"/ID [<{identity.hex()}> <{identity.hex()}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P {permissions} "
            f"/O <{owner.hex()}> /U <{rc4(key, PAD).hex()}> >>"
        ).encode()


def prose(top: float, words: str, *, left: float = 70, columns: int = 80) -> list[tuple[float, float, float, str]]:
    return [(left, top + 14 * index, 10.5, line) for index, line in enumerate(textwrap.wrap(words, columns))]


_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx_bytes(body: str, *, core: str = "") -> bytes:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in ("Title", "heading 1", "heading 2", "Caption")
    )
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    files = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{office}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{office}.styles+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{related}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships"><Relationship Id="r1" Type="{related}/styles" Target="styles.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
    }
    if core:
        files["docProps/core.xml"] = core
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


HOSTILE = """
import os, signal, socket, time
from pathlib import Path
from ingestd.convert.types import PDF
from ingestd.model.document import Block, BlockType, Document
from ingestd.model.recipe import Stage


class Hostile:
    stage = Stage(name="hostile", version=1)
    mimes = frozenset({PDF})
    in_process = False
    hoard = []
    engines = 1

    def loaded(self):
        return self.engines

    def load_more(self):
        self.engines += 1
        return self.grow()

    def convert(self, request):
        order = request.path.read_bytes().split()[1].decode()
        return _document(getattr(self, order)())

    def hang(self):
        while True:
            time.sleep(60)

    def abort(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def leave(self):
        os._exit(3)

    def hoard_memory(self):
        while True:
            self.hoard.append(bytearray(1 << 24))

    def grow(self):
        self.hoard.append(b"x" * (300 << 20))
        return str(os.getpid())

    def connect(self):
        try:
            socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        except OSError as error:
            return f"denied {error.errno}"
        return "open"

    def litter(self):
        Path(os.environ["TMPDIR"], "litter").write_text("x")
        return os.environ["TMPDIR"]

    def pid(self):
        return str(os.getpid())

    def limits(self):
        import resource
        return f"{resource.getrlimit(resource.RLIMIT_CORE)[0]} {resource.getrlimit(resource.RLIMIT_NOFILE)[0]} {os.nice(0)}"

    def many_blocks(self):
        return [str(number) for number in range(50_001)]

    def bug(self):
        raise ZeroDivisionError("a bug of the adapter")

    def empty(self):
        return ""


def _document(texts):
    texts = [texts] if isinstance(texts, str) else texts
    blocks, at = [], 0
    for text in texts:
        blocks.append(Block(type=BlockType.PARAGRAPH, text=text, start=at, end=at + len(text)))
        at += len(text) + 2
    return Document(title="t", markdown="\\n\\n".join(texts), blocks=tuple(blocks), converter="hostile/1")


def hostile(options):
    return Hostile()
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A converter ``hostile`` that does what the file says, registered as any adapter is."""
    home = tmp_path / "hostile"
    registration = home / "hostile_adapter-1.dist-info"
    registration.mkdir(parents=True)
    (home / "hostile_adapter.py").write_text(HOSTILE)
    (registration / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile-adapter\nVersion: 1\n")
    (registration / "entry_points.txt").write_text("[ingestd.converters]\nhostile = hostile_adapter:hostile\n")
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.setenv("PYTHONPATH", str(home))


Convert = Callable[..., Converted]


@dataclass
class Workshop:
    """Conversions with a fresh cache, and files in a folder."""

    folder: Path
    made: list[Conversions] = field(default_factory=list)

    def conversions(self, **options: object) -> Conversions:
        cache = ConversionCache(self.folder / "cache", 1 << 30)
        made = Conversions(options=ConvertOptions(**options), cache=cache, workers=2)
        self.made.append(made)
        return made

    def run(self, conversions: Conversions, name: str, data: bytes, mime: str = "") -> Converted:
        path = self.folder / hashlib.sha256(data).hexdigest()
        path.write_bytes(data)
        return conversions.convert(
            path=path,
            name=name,
            mime=mime or mime_of(name.encode(), data),
            size=len(data),
            fingerprint=Fingerprint(hashlib.sha256(data).hexdigest()),
        )

    def document(self, name: str, data: bytes, **options: object) -> Document:
        return self.run(self.conversions(**options), name, data).document


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path)
    yield made
    for conversions in made.made:
        conversions.close()


@pytest.fixture(scope="session")
def pdf_type() -> type[Pdf]:
    return Pdf


@pytest.fixture(scope="session")
def page_type() -> type[PdfPage]:
    return PdfPage


@pytest.fixture(scope="session")
def wrapped() -> Callable[..., list[tuple[float, float, float, str]]]:
    return prose


@pytest.fixture(scope="session")
def make_docx() -> Callable[..., bytes]:
    return docx_bytes


@pytest.fixture(scope="session")
def word() -> Callable[..., str]:
    return paragraph


def outline_of(blocks: Sequence[Block]) -> list[tuple[str, str, int | None]]:
    return [(block.type.value, block.text, block.level) for block in blocks if block.type is not BlockType.FURNITURE]


@pytest.fixture(scope="session")
def outlined() -> Callable[[Sequence[Block]], list[tuple[str, str, int | None]]]:
    return outline_of
