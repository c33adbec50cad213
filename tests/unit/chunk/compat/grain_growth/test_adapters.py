"""Blocks from the objects of two engines, neither of which is imported."""

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ingestd.chunk.compat.grain_growth import from_docling, from_unstructured

DOCLING = {
    "title": "title", "section_header": "section", "text": "paragraph", "paragraph": "paragraph", "code": "paragraph",
    "key_value_region": "paragraph", "form": "paragraph", "checkbox_selected": "paragraph",
    "checkbox_unselected": "paragraph", "list_item": "list", "reference": "list", "caption": "caption", "table": "table",
    "document_index": "table", "formula": "formula", "footnote": "footnote", "chart": "paragraph", "marker": "paragraph",
    "page_header": None, "page_footer": None, "picture": None,
}  # fmt: skip
UNSTRUCTURED = {
    "Title": "section", "Header": "section", "NarrativeText": "paragraph", "UncategorizedText": "paragraph",
    "Text": "paragraph", "ListItem": "list", "FigureCaption": "caption", "Table": "table", "Formula": "formula",
    "Footer": "footnote", "CodeSnippet": "paragraph", "CompositeElement": "paragraph", "PageBreak": None, "Image": None,
    "PageNumber": None, "Address": None, "EmailAddress": None,
}  # fmt: skip


class Label:
    def __str__(self) -> str:
        return "DocItemLabel.SECTION_HEADER"


def item(label: Any, text: Any = "x", page: Any = 1, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(label=label, text=text, prov=[SimpleNamespace(page_no=page)], **more)


def element(category: Any, text: Any = "x", page: Any = 1) -> SimpleNamespace:
    return SimpleNamespace(category=category, text=text, metadata=SimpleNamespace(page_number=page))


def raises() -> str:
    raise RuntimeError


DOCUMENTS = {
    "labels": SimpleNamespace(texts=[item(label) for label in DOCLING]),
    "tables after texts": SimpleNamespace(texts=[item("text", "b", 2), item("text")], tables=[item("table", "t")]),
    "items": SimpleNamespace(
        texts=None, iterate_items=lambda: iter([(item("text", "a", 2), 0), item("list_item", "b")])
    ),
    "exported": SimpleNamespace(texts=[], tables=[item("table", None, export_to_markdown=lambda: " |a| ")]),
    "nothing exported": SimpleNamespace(
        texts=[item("table", " ", export_to_markdown=export) for export in (raises, lambda: None, "no", lambda: " ")]
    ),
    "originals": SimpleNamespace(texts=[item("text", "", orig=" o "), item("text", None, orig="p"), item("text", 5)]),
    "pages": SimpleNamespace(
        texts=[item("text", str(page), page) for page in (3, 0, -2, "3", 2.0, True, None)]
        + [SimpleNamespace(label="text", text="y", prov=none) for none in (None, [], (), [SimpleNamespace()])]
    ),
    "odd labels": SimpleNamespace(texts=[item(Label()), item("x.y.TABLE"), item(None), SimpleNamespace(text="z")]),
    "empty": SimpleNamespace(),
}
ELEMENTS = {
    "categories": [element(category) for category in UNSTRUCTURED],
    "texts": [element("Text", text) for text in (" a ", "", None, " \n")],
    "pages": [element("Text", str(page), page) for page in (3, 0, -1, None, "3", 2.0, True)],
    "bare": [SimpleNamespace(text="a"), SimpleNamespace(text="a", category="Title", metadata=None), SimpleNamespace()],
    "classes": [type("Title", (), {"text": "t"})(), element("", "t"), element(None, "t"), element(Label(), "t")],
}


@pytest.fixture
def adapters() -> tuple[ModuleType, ModuleType]:
    return (
        pytest.importorskip("grain_growth.adapters.docling"),
        pytest.importorskip("grain_growth.adapters.unstructured"),
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_blocks_of_a_docling_document_are_those_of_the_package(adapters, name):
    ours, theirs = from_docling(DOCUMENTS[name]), adapters[0].from_docling(DOCUMENTS[name])
    assert ours == theirs
    assert [list(block) for block in ours] == [list(block) for block in theirs]


@pytest.mark.parametrize("title", [None, "", "Paper", "  "])
@pytest.mark.parametrize("name", ELEMENTS)
def test_blocks_of_unstructured_elements_are_those_of_the_package(adapters, name, title):
    ours, theirs = from_unstructured(ELEMENTS[name], title), adapters[1].from_unstructured(ELEMENTS[name], title)
    assert ours == theirs
    assert [list(block) for block in ours] == [list(block) for block in theirs]


@pytest.mark.parametrize(("label", "kind"), DOCLING.items())
def test_a_label_of_docling_becomes_a_type(label, kind):
    assert [block["type"] for block in from_docling(SimpleNamespace(texts=[item(label)]))] == [kind] * bool(kind)


@pytest.mark.parametrize(("category", "kind"), UNSTRUCTURED.items())
def test_a_category_of_unstructured_becomes_a_type(category, kind):
    assert [block["type"] for block in from_unstructured([element(category)])] == [kind] * bool(kind)


def test_tables_stand_after_the_texts_of_their_page():
    assert from_docling(DOCUMENTS["tables after texts"]) == [
        {"type": "paragraph", "page": 0, "text": "x"},
        {"type": "table", "page": 0, "text": "t"},
        {"type": "paragraph", "page": 1, "text": "b"},
    ]


def test_a_docling_document_without_tables_or_with_empty_items_is_taken():
    assert from_docling(SimpleNamespace(texts=[item("text")], tables=None)) == [
        {"type": "paragraph", "page": 0, "text": "x"}
    ]
    assert from_docling(SimpleNamespace(iterate_items=lambda: [()])) == []


def test_an_element_whose_text_is_no_string_is_named():
    with pytest.raises(ValueError, match="element 1: text must be a string or None, got int"):
        from_unstructured([element("Text"), element("Text", 5)])
