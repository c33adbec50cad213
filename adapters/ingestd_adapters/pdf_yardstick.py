"""A process that tells how much text PDFium sees on each page of a PDF."""

import os
from pathlib import Path
from typing import Any

from ingestd.children import Answerer, Reply, serve
from ingestd.convert.confinement import confine
from ingestd_adapters.pdf_preflight import preflight


def answer_with(arguments: dict[str, Any]) -> Answerer:
    """Confine the process, then give the function that answers with ``characters``, a number a page."""
    max_pages = int(arguments["max_pages"])
    confine(int(arguments["memory_bytes"]))

    def answer(request: dict[str, Any], _blob: bytes) -> Reply:
        file = Path(os.fsdecode(bytes.fromhex(request["path"])))
        return {"characters": [page.characters for page in preflight(file, request["name"], max_pages).pages]}, b""

    return answer


if __name__ == "__main__":
    serve(answer_with)
