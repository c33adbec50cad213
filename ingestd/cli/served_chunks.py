"""What the store serves of one file now."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.errors import ConfigurationError
from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.model.identity import Digest, Fingerprint
from ingestd.model.source import display

Shown = Mapping[str, Any]
"""What ``ingestd show`` says of a document."""

_WAY_OUT = "name a version with --from: a number, or compat"


def served_document(invocation: Invocation, file: Path) -> Shown:
    """The document that is served of the file, from the owner of the state where one answers.

    Parameters
    ----------
    file
        Absolute path.

    Raises
    ------
    ConfigurationError
        When nothing of the file is served.
    StateLocked
        When another process owns the state and does not answer.
    """
    from ingestd.daemon.state import Places

    named, state = display(os.fsencode(file)), invocation.state_dir
    if not Places(directory=state).ledger.exists():
        raise ConfigurationError(f"nothing is indexed yet in {state}, and so {named} is not served: {_WAY_OUT}")
    try:
        shown = acted(invocation, "show", {"path": os.fspath(file), "root": None})
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}; {_WAY_OUT}") from error
    if not shown["chunks"]:
        reason = f" ({shown['reason']})" if shown.get("reason") else ""
        raise ConfigurationError(f"nothing of {named} is served, it is {shown['state']}{reason}: {_WAY_OUT}")
    return shown


def served_chunks(shown: Shown) -> tuple[Chunk, ...]:
    """Its chunks in document order."""
    return tuple(_chunk(chunk, shown["title"]) for chunk in shown["chunks"])


def served_markdown(invocation: Invocation, shown: Shown) -> Document | None:
    """The conversion that the served chunks were made of, while the state keeps it."""
    from ingestd.convert import ConversionCache
    from ingestd.daemon.state import Places

    if not shown["served_fingerprint"]:
        return None
    # No limit: the owner of the state alone writes and evicts.
    cache = ConversionCache(Places(directory=invocation.state_dir).conversions, 2**63)
    return cache.get(Fingerprint(shown["served_fingerprint"]), Digest(shown["convert_digest"]))


def _chunk(chunk: Mapping[str, Any], title: str) -> Chunk:
    return Chunk(
        text=chunk["text"],
        body=chunk["body"],
        heading_path=tuple(chunk["heading_path"]),
        title=title,
        section=chunk["section"],
        char_start=chunk["char_start"],
        char_end=chunk["char_end"],
        page_start=chunk["page_start"],
        page_end=chunk["page_end"],
        block_types=tuple(chunk["block_types"]),
        index=chunk["index"],
        n_chars=chunk["n_chars"],
        n_tokens=chunk["n_tokens"],
    )
