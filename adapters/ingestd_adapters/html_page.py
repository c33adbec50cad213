"""What is read from a page of HTML."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestd.convert.render import Piece, one_line
from ingestd_adapters.html_elements import META_KEYS

_LONGEST_VALUE = 4096


@dataclass(slots=True)
class Page:
    """Blocks, title and metadata of a page, as they arrive."""

    pieces: list[Piece] = field(default_factory=list[Piece])
    title: str = ""
    """Of the head's title element."""
    meta: dict[str, str] = field(default_factory=dict[str, str])

    def add_meta(self, attributes: Mapping[str, str]) -> None:
        """Keep what a meta element says, when it is of use and nothing has said it before."""
        key = META_KEYS.get((attributes.get("name") or attributes.get("property") or "").lower())
        value = one_line(attributes.get("content", ""))
        if key and value:
            self.meta.setdefault(key, value[:_LONGEST_VALUE])
