"""What one of many documents failed with."""

import contextlib
from collections.abc import Generator

from ingestd.errors import IngestdError


class DocumentFailed(IngestdError):
    """One of many documents could not be chunked or embedded; ``__cause__`` is why.

    Parameters
    ----------
    index
        Of the document among those given, from 0.
    title
        Its title.
    why
        What it failed with, in words.
    """

    def __init__(self, index: int, title: str, why: str) -> None:
        super().__init__(f"documents[{index}] ({title!r}): {why}")
        self.index = index
        self.title = title


@contextlib.contextmanager
def attempt(index: int, title: str) -> Generator[None, None, None]:
    """One attempt at one document: whatever it fails with becomes a :class:`DocumentFailed`."""
    try:
        yield
    except Exception as error:
        raise DocumentFailed(index, title, f"{type(error).__name__}: {error}") from error
