"""Typed blocks from a JSON file, for callers that have one."""

import json
from os import PathLike
from pathlib import Path
from typing import Any, cast

from ingestd.chunk.compat.grain_growth.blocks import Block
from ingestd.chunk.compat.grain_growth.document import Chunk, chunk_document
from ingestd.chunk.compat.grain_growth.grains import DEFAULT_MAX_CHARS, DEFAULT_TARGET_CHARS


def load_blocks(json_path: str | PathLike[str]) -> tuple[list[Block], Any]:
    """The file's ``blocks``, then its ``source``, None where it has none.

    Raises
    ------
    ValueError
        The file is no JSON in UTF-8, or no object with a list ``blocks``.
    OSError
        The file cannot be read.
    """
    content: object = json.loads(Path(json_path).read_text(encoding="utf-8"))
    fields = cast("dict[str, Any]", content if isinstance(content, dict) else {})
    blocks: object = fields.get("blocks")
    if not isinstance(blocks, list):
        fault = f'{json_path}: must be an object with a list of blocks: {{"blocks": [\N{HORIZONTAL ELLIPSIS}]}}'
        raise ValueError(fault)  # noqa: TRY004  # the file's content is wrong, not the argument's type
    return cast("list[Block]", blocks), fields.get("source")


def chunk_file(
    json_path: str | PathLike[str],
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
) -> tuple[list[Chunk], list[Block]]:
    """As `chunk_document`, for a file as `load_blocks` takes it; its name without the last suffix is the filename.

    Raises
    ------
    ValueError, OSError
        As `load_blocks` and `chunk_document` do.
    """
    blocks, _ = load_blocks(json_path)
    return chunk_document(blocks, Path(json_path).stem, target_chars, max_chars)
