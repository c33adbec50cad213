import codecs
import time

import pytest

from ingestd.errors import FileEmpty
from ingestd.model.document import BlockType
from ingestd_adapters.markdown_converter import markdown_document


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.type.value, block.text) for block in markdown_document(text, name="a.md").blocks]


def test_the_documents_markdown_is_the_file_itself(workshop) -> None:
    data = "\ufeff# Ä\r\n\r\ntext\rmore\n\x00\x1b[".encode()
    document = workshop.document("a.md", data)
    assert document.markdown == "# Ä\r\n\r\ntext\rmore\n\ufffd\ufffd["
    assert [document.markdown[block.start : block.end] for block in document.blocks] == [
        "# Ä",
        "text\rmore\n\ufffd\ufffd[",
    ]
    assert document.blocks[1].text == "text\nmore\n\ufffd\ufffd["


@pytest.mark.parametrize(("encoding", "mark"), [("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)])
def test_utf_16_is_read_by_its_mark_and_said(workshop, encoding: str, mark: bytes) -> None:
    document = workshop.document("a.md", mark + "# Größe\n".encode(encoding))
    assert document.markdown == "# Größe\n"
    assert document.meta["encoding"] == encoding


def test_a_legacy_encoding_is_found_and_said(workshop) -> None:
    text = "# Прогноз\n\nЭто обычный русский текст в старой кодировке, довольно длинный.\n"
    document = workshop.document("a.md", text.encode("cp1251"))
    assert document.markdown == text
    assert document.meta["encoding"] == "cp1251"


def test_headings_lists_code_tables_and_quotes_are_told_apart() -> None:
    text = (
        "# Title\n\nSub\n---\n\npara\nsecond\n\n- a\n  - b\n\n  more\n1. one\n\n```python\n# no heading\n```\n\n"
        "    indented\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n> > twice\n\n***\n<!-- gone -->\n"
    )
    assert blocks(text) == [
        ("title", "Title"),
        ("section", "Sub"),
        ("paragraph", "para\nsecond"),
        ("list", "- a\n  - b\n\n  more"),
        ("list", "1. one"),
        ("code", "# no heading"),
        ("code", "indented"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", "quoted\ntwice"),
        ("furniture", ""),
        ("furniture", ""),
    ]
    found = markdown_document(text, name="a.md").blocks
    assert [block.level for block in found[:2]] == [1, 2]
    assert found[5].language == "python"
    assert found[7].header_rows == 2


def test_what_commonmark_has_no_block_for_is_a_block_here() -> None:
    assert blocks("$$\nE = mc^2\n$$\n\n$$x$$\n") == [("formula", "E = mc^2"), ("formula", "x")]
    assert blocks("$$ never closed\n\ntext\n") == [("paragraph", "$$ never closed"), ("paragraph", "text")]
    assert blocks("[^1]: a note\n    goes on\n\n    still\n\nout\n") == [
        ("footnote", "a note\n    goes on\n\n    still"),
        ("paragraph", "out"),
    ]
    assert blocks("![A cat](cat.png)\n[![build](b.svg)](url)\n") == [("picture", "A cat build")]
    assert blocks("![](cat.png)\n") == [("furniture", "")]
    assert blocks("[a]: http://x\n[b]: <y> 'title'\n") == [("furniture", "")]
    assert blocks("<p align=center><img alt='A logo' src=x></p>\n") == [("picture", "A logo")]
    assert blocks("<div>\nfish &amp; <b>chips</b>\n</div>\n") == [("paragraph", "fish & chips")]
    assert blocks("<script>\nvar a\n\nvar b\n</script>\n") == [("furniture", "")]


def test_front_matter_becomes_metadata_and_never_text() -> None:
    document = markdown_document(
        '---\ntitle: "The \\"title\\""\ntags: [a, \'b, c\', 3]  # why\nauthors:\n  - Ann\n  - Bo\ndraft: false\n'
        "text: |\n  two\n  lines\nnested:\n  a: 1\ndate: 2026-01-02\nempty:\n---\n\nbody\n",
        name="x.md",
    )
    assert dict(document.meta) == {
        "title": 'The "title"',
        "tags": ["a", "b, c", 3],
        "authors": ["Ann", "Bo"],
        "draft": False,
        "text": "two\nlines",
        "nested": "a: 1",
        "date": "2026-01-02",
        "empty": None,
    }
    assert document.title == 'The "title"'
    assert [(block.type, block.text) for block in document.blocks] == [
        (BlockType.FURNITURE, ""),
        (BlockType.PARAGRAPH, "body"),
    ]
    assert document.markdown[: document.blocks[0].end].endswith("---")


def test_toml_front_matter_is_read_as_json_values() -> None:
    document = markdown_document("+++\ndate = 2026-01-02\nn = nan\n[a]\nb = [1]\n+++\n# H\n", name="x.md")
    assert dict(document.meta) == {"date": "2026-01-02", "n": "nan", "a": {"b": [1]}}
    assert document.title == "H"


@pytest.mark.parametrize(
    "text", ["---\nJust a sentence.\n---\n", "---\nkey: value\n", "+++\nnot = = toml\n+++\n", "--- \n\n---\n"]
)
def test_what_only_looks_like_front_matter_is_text(text: str) -> None:
    document = markdown_document(text, name="x.md")
    assert not document.meta
    assert document.blocks[0].end < len(text.rstrip()) or len(document.blocks) == 1


def test_yaml_is_never_executed() -> None:
    document = markdown_document("---\na: !!python/object/apply:os.system ['true']\nb: *x\n---\ntext\n", name="x.md")
    assert document.meta["a"] == "!!python/object/apply:os.system ['true']"
    assert document.meta["b"] == "*x"


def test_the_title_is_the_first_heading_of_level_1_then_the_front_matter_then_the_name() -> None:
    assert markdown_document("## a\n# The *first* [one](x)\n# b\n", name="x.md").title == "The first one"
    assert markdown_document("---\ntitle: T\n---\n## a\n", name="x.md").title == "T"
    assert markdown_document("## a\n", name="notes on x.md").title == "notes on x"


def test_a_file_of_front_matter_alone_is_empty(workshop) -> None:
    with pytest.raises(FileEmpty, match=r"a\.md"):
        workshop.document("a.md", b"---\na: 1\n---\n")


def test_a_copy_under_another_name_is_reused_and_takes_its_title_from_its_own_name(workshop) -> None:
    conversions = workshop.conversions()
    assert workshop.run(conversions, "one.md", b"text\n").document.title == "one"
    again = workshop.run(conversions, "two.md", b"text\n")
    assert (again.reused, again.document.title) == (True, "two")


HOSTILE = {
    "a list 1,200 deep": "- " * 1200 + "x",
    "60,000 nested items": "- " * 60_000 + "x\n" + "\n" * 60_000 + "  y\n" * 20_000,
    "nested quotes, then bare ones": ">" * 60_000 + " x\n" + ">\n" * 60_000,
    "100k backticks": "`" * 100_000,
    "a 5 MB line": "word " * 1_000_000,
    "200k brackets": "[" * 60_000,
    "200k images begun": "![a](b" * 60_000,
    "unclosed comments": "<!--" * 500_000,
    "unclosed tags": "<a b='" * 60_000,
    "formulas never closed": "$$ x\n# h\n" * 20_000,
    "20k columns": ("|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n") + ("|1" * 20_000 + "|\n") * 5,
    "tables everywhere": "a|b\n-|x\n" * 20_000,
    "rules that are none": "- - - x\n" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markdown_costs_no_more_than_its_length(name: str) -> None:
    text = HOSTILE[name]
    began = time.process_time()
    found = markdown_document(text, name="x.md").blocks
    # Quadratic behaviour takes minutes on these; the slowest linear one takes 4 µs a character.
    assert time.process_time() - began < 5 + len(text) * 20e-6
    assert found[-1].end == len(text.rstrip("\n"))
