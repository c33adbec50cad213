"""Blocks, spans and Markdown hold together, for every input."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestd.convert.render import Item, Piece, render
from ingestd.model.document import Block, BlockType
from ingestd_adapters.html_converter import html_document
from ingestd_adapters.html_tokens import Text, tokens
from ingestd_adapters.markdown_blocks import scan

words = st.one_of(
    st.text(alphabet=st.sampled_from("ab -+*#>=_`~<$[]()!|:1.\\\n\t^/"), max_size=14), st.text(max_size=10)
)
items = st.builds(Item, text=words, depth=st.integers(0, 4), number=st.one_of(st.none(), st.integers(0, 2000)))
texts = [
    BlockType.PARAGRAPH,
    BlockType.CAPTION,
    BlockType.AUTHORS,
    BlockType.FURNITURE,
    BlockType.FORMULA,
    BlockType.PICTURE,
]
pieces = st.one_of(
    st.builds(Piece, type=st.sampled_from([BlockType.TITLE, BlockType.SECTION]), text=words, level=st.integers(1, 6)),
    st.builds(Piece, type=st.sampled_from(texts), text=words, page=st.integers(1, 9)),
    st.builds(Piece, type=st.just(BlockType.FOOTNOTE), text=words, label=words),
    st.builds(Piece, type=st.just(BlockType.CODE), text=words, language=st.one_of(st.none(), words)),
    st.builds(Piece, type=st.just(BlockType.LIST), items=st.lists(items, max_size=5).map(tuple)),
    st.builds(
        Piece,
        type=st.just(BlockType.TABLE),
        rows=st.lists(st.lists(words, max_size=3).map(tuple), max_size=4).map(tuple),
        header_rows=st.integers(0, 2),
    ),
)


def as_read_again(block: Block, markdown: str) -> tuple[BlockType, int, int, int | None]:
    """What a reader of the Markdown can know of a block."""
    kind = block.type
    if kind is BlockType.TITLE:
        kind = BlockType.SECTION
    if kind in (BlockType.CAPTION, BlockType.AUTHORS, BlockType.FURNITURE):
        kind = BlockType.PARAGRAPH
    if kind is BlockType.FOOTNOTE and not markdown.startswith("[^", block.start):
        kind = BlockType.PARAGRAPH
    return kind, block.start, block.end, block.level


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=5))
def test_reading_the_rendered_markdown_finds_the_same_blocks(made: list[Piece]) -> None:
    markdown, blocks = render(made)
    assert [as_read_again(block, markdown) for block in blocks] == [
        (block.type, block.start, block.end, block.level) for block in scan(markdown)
    ]


@given(st.lists(pieces, max_size=5))
def test_blocks_are_in_order_parted_by_blank_lines_and_hold_their_text(made: list[Piece]) -> None:
    markdown, blocks = render(made)
    at = 0
    for index, block in enumerate(blocks):
        assert markdown[at : block.start] == ("\n\n" if index else "")
        assert block.text.strip()
        squeezed = "".join(block.text.split())
        assert (
            squeezed in "".join(markdown[block.start : block.end].replace("\\", "").split())
            or "\\" in squeezed
            or ("|" in squeezed or block.type is BlockType.CODE)
        )
        at = block.end
    assert markdown[at:] == ("\n" if blocks else "")


@given(st.text(alphabet=st.sampled_from("<>/!-ab =\"'&;#pdivultr \n"), max_size=200))
def test_any_page_gives_a_document_whose_blocks_hold(page: str) -> None:
    document = html_document(page, name="x.html", converter="html/1")
    assert [as_read_again(block, document.markdown) for block in document.blocks] == [
        (block.type, block.start, block.end, block.level) for block in scan(document.markdown)
    ]


@given(st.text(max_size=200))
def test_text_without_tags_passes_through_the_tokens(text: str) -> None:
    plain = text.replace("<", "").replace("&", "")
    assert "".join(token.text for token in tokens(plain) if isinstance(token, Text)) == plain
