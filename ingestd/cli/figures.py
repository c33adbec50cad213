"""What a conversion brought, in numbers that can be set beside another's."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ingestd.cli.trials import Trial
from ingestd.errors import IngestdError
from ingestd.model.document import Block, BlockType, Document

_SPACE = re.compile(r"\s+")
_HEADINGS = (BlockType.TITLE, BlockType.SECTION)
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def characters(document: Document) -> int:
    """Characters of its text that are no white space, without the marks that Markdown puts around the cells of tables."""
    return sum(_characters(block) for block in document.blocks)


def _characters(block: Block) -> int:
    text = block.text
    if block.type is BlockType.TABLE:
        text = _CELL_BORDER.sub("", "\n".join(row for row in _rows(block) if not _is_delimiter(row)))
    return len(_SPACE.sub("", text))


def _rows(block: Block) -> list[str]:
    return [line.strip() for line in block.text.splitlines() if line.strip()]


def _is_delimiter(row: str) -> bool:
    """Whether it is the row of dashes below the headings, which holds no cells."""
    return "-" in row and not row.strip("|-: ")


def figures(trial: Trial, by_pdfium: Sequence[int] | None, largest: int) -> dict[str, Any]:
    """One converter's entry of the answer, JSON values only.

    Parameters
    ----------
    by_pdfium
        Characters on each page as PDFium sees them; ``None`` where it cannot be told, or for a file that is no PDF.
    largest
        Characters of the largest document that any converter made.
    """
    entry: dict[str, Any] = {
        "converter": trial.converter,
        "start_seconds": _rounded(trial.start_seconds),
        "seconds": _rounded(trial.seconds),
        "cpu_seconds": _rounded(trial.cpu_seconds),
        "peak_bytes": trial.peak_bytes,
    }
    if isinstance(trial.outcome, IngestdError):
        return {**entry, "error": type(trial.outcome).__name__, "reason": str(trial.outcome)}
    return {**entry, "error": None, "reason": None, **_content(trial.outcome, by_pdfium, largest)}


def _content(document: Document, by_pdfium: Sequence[int] | None, largest: int) -> dict[str, Any]:
    kinds = Counter(block.type.value for block in document.blocks)
    return {
        "made_by": document.converter,
        "title": document.title,
        "markdown_characters": len(document.markdown),
        "pages": document.page_count,
        "coverage": _coverage(document, by_pdfium, largest),
        "blocks": dict(sorted(kinds.items())),
        "headings": [
            {"level": block.level, "page": block.page, "text": block.text}
            for block in document.blocks
            if block.type in _HEADINGS
        ],
        "tables": [_table(block) for block in document.blocks if block.type is BlockType.TABLE],
        "characters_by_page": _by_page(document.blocks),
        "provenance": dict(document.provenance),
    }


def _coverage(document: Document, by_pdfium: Sequence[int] | None, largest: int) -> dict[str, Any]:
    """What came through, of what PDFium sees or, without its word, of the largest document that was made."""
    found = characters(document)
    of = largest if by_pdfium is None else sum(by_pdfium)
    pages = {block.page for block in document.blocks if block.page is not None and block.text.strip()}
    return {
        "against": "largest" if by_pdfium is None else "pdfium",
        "characters": found,
        "of_characters": of,
        "share": round(found / of, 4) if of else None,
        "pages": len(pages),
        "of_pages": None if by_pdfium is None else len(pages | _with_text(by_pdfium)),
    }


def _with_text(by_pdfium: Sequence[int]) -> set[int]:
    """Pages that have text without OCR."""
    return {number for number, count in enumerate(by_pdfium, 1) if count}


def _table(block: Block) -> dict[str, Any]:
    rows = _rows(block)
    widths = [len(_CELL_BORDER.findall(row)) - row.startswith("|") - row.endswith("|") + 1 for row in rows]
    delimiters = sum(1 for row in rows if _is_delimiter(row))
    return {"rows": len(rows) - delimiters, "columns": max(widths, default=0), "page": block.page}


def _by_page(blocks: Sequence[Block]) -> Mapping[str, int]:
    counts: Counter[int] = Counter()
    for block in blocks:
        if block.page is not None:
            counts[block.page] += _characters(block)
    return {str(page): counts[page] for page in sorted(counts)}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
