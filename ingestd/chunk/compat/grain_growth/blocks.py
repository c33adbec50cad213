"""Typed blocks as grain-growth 1.0.0 takes them."""

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict, cast

BLOCK_TYPES: frozenset[str] = frozenset(
    {"authors", "caption", "footnote", "formula", "list", "paragraph", "section", "table", "title"}
)
_SHOWN = 5
"""As many problems as a refusal names."""


class Block(TypedDict):
    """One block of the document, in reading order; pages count from 0."""

    type: str
    text: str | None
    page: int | None
    members: NotRequired[list["Block"]]
    """Only where the type is ``bound``: what `bind_formula_groups` put together."""


def validate_blocks(blocks: object, *, strict: bool = True) -> list[str]:
    """What is wrong with the blocks, one message a problem, in their order.

    Parameters
    ----------
    blocks
        A list or tuple of dicts.
    strict
        Raise when there is a problem.

    Raises
    ------
    ValueError
        Strict, and there are problems: it names the first five.
    """
    problems = list(_problems(blocks))
    if strict and problems:
        raise ValueError("invalid blocks \N{EM DASH} " + "; ".join(problems[:_SHOWN]))
    return problems


def type_of(block: Block, at: int) -> str:
    """The block's type, which may be any hashable value.

    Raises
    ------
    ValueError
        There is none, or it is not hashable.
    """
    try:
        kind = block["type"]
        hash(kind)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(_fault(block, at)) from error
    return kind


def text_of(block: Block, at: int) -> str:
    """The block's text; none is the empty one.

    Raises
    ------
    ValueError
        It is something else than a string or None.
    """
    text = block.get("text")
    if text is None:
        return ""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers are not all typed
        fault = f"block {at}: text must be a string or None, got {type(text).__name__}"
        raise ValueError(fault)  # noqa: TRY004  # bad blocks are ValueErrors, all of them
    return text


def page_of(block: Block) -> int | None:
    """The block's page; the first when it has none."""
    return block.get("page", 0)


def _fault(block: object, at: int) -> str:
    if not isinstance(block, Mapping):
        return f"block {at}: must be a dict, got {type(block).__name__}"
    fields = cast("Mapping[str, object]", block)
    if "type" not in fields:
        return f"block {at}: type is missing; give one of {sorted(BLOCK_TYPES)}"
    return f"block {at}: type {fields['type']!r} is not one of {sorted(BLOCK_TYPES)}"


def _problems(blocks: object) -> Iterable[str]:
    if not isinstance(blocks, list | tuple):
        yield f"blocks must be a list, got {type(blocks).__name__}"
        return
    for at, block in enumerate(cast("list[object]", blocks)):
        if isinstance(block, dict):
            yield from _field_problems(cast("dict[str, object]", block), at)
        else:
            yield f"block {at}: must be a dict, got {type(block).__name__}"


def _field_problems(block: dict[str, object], at: int) -> Iterable[str]:
    kind, text, page = block.get("type"), block.get("text"), block.get("page", 0)
    if not _is_known(kind):
        yield f"block {at}: type {kind!r} is not one of {sorted(BLOCK_TYPES)}"
    if text is not None and not isinstance(text, str):
        yield f"block {at}: text must be a string or None, got {type(text).__name__}"
    if not isinstance(page, int) or isinstance(page, bool) or page < 0:
        yield f"block {at}: page must be a non-negative integer, got {page!r}"


def _is_known(kind: object) -> bool:
    try:
        return kind in BLOCK_TYPES
    except TypeError:
        return False
