"""What splits text into sentences."""

from typing import Protocol


class Segmenter(Protocol):
    """Splits a text losslessly."""

    @property
    def name(self) -> str:
        """Identity for the recipe, with its version, such as ``sentencex/1``."""
        ...

    def split(self, text: str) -> list[str]:
        """Sentences whose concatenation is the text, white space included, none of them empty."""
        ...
