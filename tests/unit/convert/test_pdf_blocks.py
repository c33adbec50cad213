"""The mending of what a layout engine saw, on plain values."""

from dataclasses import replace

from ingestd.convert.render import Piece
from ingestd.model.document import BlockType
from ingestd_adapters.pdf_blocks import Seen, pieces_of
from ingestd_adapters.pdf_preflight import OutlineEntry

LONG = "A paragraph that is certainly longer than any line of authors would be, and " * 5 + "ends here."


def seen(text: str, kind: str = "paragraph", *, top: float = 300, page: int = 1, level: int = 0) -> Seen:
    return Seen(kind=kind, page=page, bbox=(50, top, 300, top + 12), page_height=800, text=text, level=level)


def summary(pieces: list[Piece]) -> list[tuple[str, str]]:
    return [(piece.type.value, piece.text) for piece in pieces]


def test_author_lines_are_no_headings() -> None:
    pieces = pieces_of(
        [
            seen("A Study", "heading", level=1),
            seen("Ann Lee, Bo Ek", "heading", level=2),
            seen("{ann,bo}@uni.edu", "heading", level=2),
            seen("Abstract", "heading", level=2),
            seen(LONG),
        ],
        (),
        1,
    )
    assert summary(pieces)[:3] == [
        ("title", "A Study"),
        ("authors", "Ann Lee, Bo Ek\n{ann,bo}@uni.edu"),
        ("section", "Abstract"),
    ]


def test_lines_without_a_mail_address_stay_what_they_are() -> None:
    pieces = pieces_of([seen("A Study", "heading", level=1), seen("A subtitle"), seen(LONG)], (), 1)
    assert summary(pieces)[1] == ("paragraph", "A subtitle")


def test_levels_follow_numbering_and_never_skip_one_downwards() -> None:
    pieces = pieces_of(
        [
            seen("Title", "heading", level=1),
            seen("1 One", "heading", level=2),
            seen("1.1 Two", "heading", level=2),
            seen("1.1.1 Three", "heading", level=6),
            seen("2 Four", "heading", level=3),
            seen("Appendix", "heading", level=6),
        ],
        (),
        1,
    )
    assert [piece.level for piece in pieces] == [1, 2, 3, 4, 2, 3]


def test_the_outline_promotes_lines_that_look_like_text() -> None:
    pieces = pieces_of(
        [seen("2 Methods", page=2), seen(LONG, page=2)], [OutlineEntry(title="Methods", level=1, page=2)], 2
    )
    assert (pieces[0].type, pieces[0].level) == (BlockType.SECTION, 1)


def test_headers_are_known_by_repetition_and_numbers_by_their_place() -> None:
    pages = [
        [seen(f"Chapter {page}", top=20, page=page), seen(LONG, page=page), seen(str(page), top=780, page=page)]
        for page in (1, 2, 3)
    ]
    pieces = pieces_of([block for page in pages for block in page], (), 3)
    assert [piece.type for piece in pieces] == [BlockType.FURNITURE, BlockType.PARAGRAPH, BlockType.FURNITURE] * 3


def test_a_heading_at_the_top_of_one_page_is_no_header() -> None:
    pieces = pieces_of([seen("Only here", "heading", top=20, level=1), seen(LONG)], (), 1)
    assert pieces[0].type is BlockType.TITLE


def test_a_sentence_cut_by_a_page_is_whole_and_the_rest_keeps_its_page() -> None:
    before = seen("This sentence is long enough to be cut in the mid-", page=1)
    after = seen("dle of a word. " + LONG, page=2)
    edge = seen("7", top=780, page=1)
    pieces = pieces_of([before, edge, after], (), 2)
    assert summary(pieces) == [
        ("paragraph", "This sentence is long enough to be cut in the middle of a word."),
        ("furniture", "7"),
        ("paragraph", LONG),
    ]
    assert [piece.page for piece in pieces] == [1, 1, 2]


def test_columns_of_one_page_join_whole() -> None:
    first = seen("This sentence goes on in the second column where")
    second = seen("it ends. " + LONG)
    assert len(pieces_of([first, second], (), 1)) == 1


def test_items_of_a_list_are_one_block_and_captions_are_told() -> None:
    pieces = pieces_of(
        [
            seen("**one**", "list_item"),
            replace(seen("two", "list_item", level=1), number=4),
            seen("Figure 3: A mill"),
            seen("", "table"),
        ],
        (),
        1,
    )
    assert [(item.text, item.depth, item.number) for item in pieces[0].items] == [("one", 0, None), ("two", 1, 4)]
    assert summary(pieces)[1] == ("caption", "Figure 3: A mill")
