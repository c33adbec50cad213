"""What splits text into sentences."""

from typing import Protocol, runtime_checkable


class Segmenter(Protocol):
    """Splits a text losslessly."""

    @property
    def name(self) -> str:
        """Identity for the recipe, with its version, such as ``sentencex/1``."""
        ...

    def split(self, text: str) -> list[str]:
        """Sentences whose concatenation is the text, white space included, none of them empty."""
        ...


@runtime_checkable
class Loads(Protocol):
    """A segmenter whose engine takes a while to load, or may be missing."""

    def load(self) -> str:
        """Load it, once; gives the device in use, such as ``cpu`` or ``cuda:0``.

        Raises
        ------
        AdapterUnavailable
            When the engine or its model is missing; names where it was looked for and the way out.
        ConfigurationError
            When the model is not what it is said to be.
        """
        ...
