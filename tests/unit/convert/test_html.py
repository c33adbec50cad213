import time

import pytest

from ingestd.errors import FileEmpty
from ingestd_adapters.html_converter import html_document


def read(page: str, outlined) -> list[tuple[str, str, int | None]]:
    return outlined(html_document(page, name="x.html", converter="html/1").blocks)


def test_a_page_is_read_as_its_reader_reads_it(workshop, outlined) -> None:
    page = """<!doctype html><html lang=de><head><title>The page</title><meta name=author content="Ann">
    <style>p{}</style><script>alert('<p>')</script></head><body><nav><a>Home</a></nav>
    <h1>The  <em>heading</em></h1><p>One &amp; two<br>three<p>Next
    <ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>
    <ol start=3><li>x<li>y</ol>
    <pre class="language-rust">fn a() {
  b
}</pre>
    <figure><img src=x alt="A cat"><figcaption>The caption</figcaption></figure>
    <blockquote><p>Quoted</p></blockquote><div hidden>never</div><h3>Deep</h3></body></html>"""
    document = workshop.document("page.html", page.encode())
    assert outlined(document.blocks) == [
        ("title", "The heading", 1),
        ("paragraph", "One & two\nthree", None),
        ("paragraph", "Next", None),
        ("list", "- a\n  - b\n- c\n  d", None),
        ("list", "3) x\n4) y", None),
        ("code", "fn a() {\n  b\n}", None),
        ("picture", "A cat", None),
        ("caption", "The caption", None),
        ("paragraph", "Quoted", None),
        ("section", "Deep", 3),
    ]
    assert document.title == "The heading"
    assert dict(document.meta) == {"title": "The page", "language": "de", "authors": "Ann"}
    assert next(block for block in document.blocks if block.language).language == "rust"


def test_cells_and_header_rows_of_tables_are_kept(outlined) -> None:
    page = (
        "<table><caption>Prices</caption><thead><tr><th>a<th>b</thead><tr><td rowspan=2>1|1<td>2<tr><td>3"
        "<tr><td colspan=2>wide</table>"
    )
    document = html_document(page, name="x.html", converter="html/1")
    assert outlined(document.blocks) == [
        ("caption", "Prices", None),
        ("table", "| a | b |\n| --- | --- |\n| 1\\|1 | 2 |\n| 1\\|1 | 3 |\n| wide |  |", None),
    ]
    assert document.blocks[1].header_rows == 2


def test_a_table_of_one_column_is_layout(outlined) -> None:
    assert read("<table><tr><td>a <b>b</b></table>", outlined) == [("paragraph", "a b", None)]


def test_a_span_of_a_billion_is_not_believed(outlined) -> None:
    ((kind, text, _),) = read("<table><tr><td colspan=1000000000>a<td>b</table>", outlined)
    assert kind == "table"
    assert len(text) < 1000


def test_text_that_looks_like_marks_stays_text(outlined) -> None:
    page = "<p># no heading</p><p>1. no item</p><p>- no item</p><p>| no | table |<br>|---|---|</p>"
    document = html_document(page, name="x.html", converter="html/1")
    assert [kind for kind, _, _ in outlined(document.blocks)] == ["paragraph"] * 4
    assert document.blocks[0].text == "# no heading"
    assert document.markdown.startswith("\\# no heading")


def test_the_declared_charset_is_used(workshop) -> None:
    page = '<meta charset="windows-1251"><p>Привет</p>'
    document = workshop.document("a.html", page.encode("cp1251"))
    assert document.blocks[0].text == "Привет"
    assert document.meta["encoding"] == "cp1251"


def test_a_page_of_scripts_alone_is_empty(workshop) -> None:
    with pytest.raises(FileEmpty):
        workshop.document("a.html", b"<html><script>a()</script><nav>Home</nav>")


def test_nothing_is_fetched_and_no_address_is_kept() -> None:
    page = '<p><img src="http://example.org/x.png"><a href="file:///etc/passwd">link</a></p>'
    assert html_document(page, name="x.html", converter="html/1").markdown == "link\n"


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<!--", "</", "<![CDATA[", "<a b='", '<a b="x', "&#", "&a", "<script>", "<", "<ul><li>", "<p>", "<div>",
     "<table><tr><td>", "<td rowspan=50 colspan=50>", "</div>", "<dl><dd>", "<h1>a", "<b>", "<div hidden>"],
)  # fmt: skip
def test_hostile_html_costs_no_more_than_its_length(piece: str) -> None:
    page = piece * 8_000
    began = time.process_time()
    html_document(page, name="x.html", converter="html/1")
    assert time.process_time() - began < 10
