"""How a chunk's text begins and ends."""

import re

from ingestd.chunk.compat.grain_growth.fences import FENCE_CHAR, is_bare_bar, starts_inside_fence
from ingestd.chunk.compat.grain_growth.prose import ends_in_stop

_BAR = FENCE_CHAR * 3
_MIDWAY = re.compile(r"[a-z,;:)\]]")


def starts_cleanly(text: str) -> bool:
    """Whether the text begins neither inside a fence nor in the middle of a sentence."""
    stripped = text.strip()
    if not stripped:
        return True
    if starts_inside_fence(stripped):
        return False
    return stripped.startswith(_BAR) or _MIDWAY.match(stripped) is None


def ends_cleanly(text: str) -> bool:
    """Whether the text ends with a fence that is closed, or with a sentence's end."""
    stripped = text.strip()
    if not stripped:
        return True
    last = stripped.rsplit("\n", 1)[-1]
    if is_bare_bar(last):
        return True
    return not last.startswith(_BAR) and ends_in_stop(stripped)
