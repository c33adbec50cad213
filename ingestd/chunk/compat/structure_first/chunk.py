"""One chunk, as the seed gives it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document.

    Parameters
    ----------
    text
        The chunk itself.
    start, end
        Half-open range of characters in the document, where it is known.
    heading_path
        Headings that were in force before the chunk, outermost first, markers included, where they are known.
    """

    text: str
    start: int | None = None
    end: int | None = None
    heading_path: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return self.text
