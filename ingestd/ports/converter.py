"""What turns a file into a document."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from ingestd.model.document import Document
from ingestd.model.recipe import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionRequest:
    """One file to convert."""

    path: Path
    """A private copy, or the file itself opened read-only; never written to."""
    name: str
    """File name for people and for the title; undecodable bytes as backslash escapes."""
    mime: str


class Converter(Protocol):
    """An engine that reads some types of files."""

    @property
    def stage(self) -> Stage:
        """Identity: the adapter's name, its own version, every option that can change its output."""
        ...

    @property
    def mimes(self) -> frozenset[str]:
        """Types that it takes."""
        ...

    @property
    def in_process(self) -> bool:
        """True only for our own plain readers of text, whose time is bounded by their input: no child is needed."""
        ...

    def convert(self, request: ConversionRequest) -> Document:
        """Convert the file, whole.

        Raises
        ------
        PermanentError
            With the reason, when the file cannot be converted.
        """
        ...


@runtime_checkable
class ReadsBytes(Protocol):
    """A converter that works in this process, and needs no file to read what is in memory already."""

    def convert_bytes(self, content: bytes, name: str) -> Document:
        """What ``convert`` makes of a file of this content and name, with the same errors."""
        ...


@runtime_checkable
class ReadsText(Protocol):
    """A converter that takes a text as it is."""

    def document_of(self, text: str, name: str) -> Document:
        """Document whose Markdown is the text, character for character; ``name`` is that of a file."""
        ...


@runtime_checkable
class HasPlainStage(Protocol):
    """A converter with an option that matters to some of its files only, such as OCR."""

    @property
    def plain_stage(self) -> Stage:
        """Identity of the converter without the option."""
        ...

    def is_plain(self, document: Document) -> bool:
        """Whether the option had no say in this document: with or without it, the converter makes the same."""
        ...
