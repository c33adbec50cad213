"""Elements of HTML, by what they mean to a reader of text."""

from collections.abc import Mapping

SILENT = frozenset(
    [
        "script",
        "style",
        "template",
        "svg",
        "nav",
        "noscript",
        "iframe",
        "object",
        "canvas",
        "button",
        "select",
        "datalist",
        "audio",
        "video",
        "textarea",
        "noembed",
        "noframes",
        "xmp",
        "dialog",
        "menu",
    ]
)
"""Elements whose content is no text of the document."""
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "details",
        "div",
        "dd",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
        "head",
    ]
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CLOSED_BY: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr", "td", "th"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"table"})),
    "th": (frozenset({"td", "th"}), frozenset({"table"})),
    "tbody": (frozenset({"tr", "td", "th", "thead", "tbody"}), frozenset({"table"})),
    "tfoot": (frozenset({"tr", "td", "th", "thead", "tbody"}), frozenset({"table"})),
    "thead": (frozenset({"tr", "td", "th", "caption"}), frozenset({"table"})),
}
"""A start tag → elements whose end tag it stands for, and the elements at which the search stops."""
META_KEYS: Mapping[str, str] = {
    "author": "authors", "article:author": "authors", "dc.creator": "authors", "citation_author": "authors",
    "description": "description", "og:description": "description", "keywords": "keywords",
    "date": "date", "dc.date": "date", "article:published_time": "date", "article:modified_time": "modified",
    "og:title": "title", "dc.title": "title",
}  # fmt: skip
