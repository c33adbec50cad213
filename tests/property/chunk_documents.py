"""Markdown documents to trip a chunker, as a strategy: every kind of block, nested, in every script, badly ended."""

from collections.abc import Sequence

from hypothesis import strategies as st

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
_PLAIN = "the river rises and falls with its gauge; a valve, (closed) [4] is _set_ **hard** `x = 1` e.g. Dr. No. Fig. 3 p. i.e."
WORDS = [
    *_PLAIN.split(" "),
    *[
        "3.5",
        "$x_1 + y$",
        "https://example.org/a.b?c=d",
        "[link](a.md)",
        "![](p.png)",
        "<b>",
        "</b>",
        "|",
        "\\|",
        "#tag",
    ],
    *["\u0440\u0435\u043a\u0430", "\u00c9cole", "\u5929\u5730\u7384\u9ec4", "\u5b87\u5b99\u6d2a\u8352\u3002", "\uff01"],
    *["\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0964"],
    *["\u0645\u0631\u062d\u0628\u0627\u061f", "\u05e9\u05dc\u05d5\u05dd", "\u202eabc\u202c", "\ud55c\uad6d\uc5b4"],
    *[
        FAMILY,
        "\U0001f1e9\U0001f1ea",
        "\U0001f44d\U0001f3fd",
        "e\u0301\u0323",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\0",
        "\ud800",
    ],
    *["\u00a0", "\u3000", "\x85", "\u2028", "\x1c", "~~~", "```", "$$", "&amp;", "<!--", "-->", "[^1]", "^a^"],
]
STOPS = [". "] * 8 + ["! ", "? ", "\u3002", ".\n", ".  \n", "; ", ' ." ', ".) ", "\u2026 ", "\n", " ", ""]
MARKERS = ["-", "*", "+", "1.", "2)", "10."]
INFOS = ["", "python", " py {.x a=1}", "text with words", "\u8a00\u8a9e", "x" * 60]
LINE_ENDS = ["\n"] * 6 + ["\r\n", "\r"]

Lines = list[str]
word = st.sampled_from(WORDS)
sentence = st.builds(
    lambda words, gap, stop: gap.join(words) + stop,
    st.lists(word, min_size=1, max_size=9),
    st.sampled_from([" "] * 6 + ["", "\n", "  "]),
    st.sampled_from(STOPS),
)
plain_sentence = st.builds(
    lambda number, of: f"Here is sentence {number} that speaks of {of}. ",
    st.integers(0, 99),
    st.sampled_from(WORDS[:9]),
)
short_text = st.lists(word, min_size=1, max_size=6).map(" ".join)
prose = st.builds(
    lambda sentences, times: "".join(sentences) * times,
    st.lists(sentence | plain_sentence, min_size=1, max_size=6),
    st.sampled_from([1] * 6 + [2, 5, 20]),
)
endless = st.builds(
    lambda unit, times: unit * times,
    st.sampled_from(["x", "ab ", "\u5929", FAMILY, "e\u0301", "\u0e01\u0e33", "\u0301", "\u200d", "\U0001f1e9", "a,"]),
    st.integers(1, 900),
)
code_lines = st.lists(
    st.sampled_from(
        [
            "def f(x):",
            "    return x  # no heading",
            "",
            "# comment",
            "- no item",
            "| no | row |",
            "\tif x:",
            "}",
            "$$",
            "~~~",
            *["print('a. B')", "x" * 300, "---", "===", "1. no item", "  indented"],
        ]
    ),
    max_size=30,
)


def _split(text: str) -> Lines:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _heading(level: int, text: str, form: str) -> Lines:
    bare = " ".join(text.split()) or "Heading"
    if form == "=":
        return [bare, ("=" if level == 1 else "-") * 4]
    return [form.replace("#", "#" * level, 1).replace("T", bare, 1)]


def _fenced(lines: Lines, bar: str, info: str, closed: bool) -> Lines:
    mark = bar[0]
    kept = [line for line in lines if not line.lstrip().startswith(mark * 3)]
    info = info.replace("`", "") if mark == "`" else info
    return [bar + info, *kept, *([bar] if closed else [])]


def _table(rows: Sequence[Sequence[str]], columns: int, times: int) -> Lines:
    head = "| " + " | ".join(f"column {number}" for number in range(columns)) + " |"
    delimiter = "|" + "|".join([":--", "---", "--:"][number % 3] for number in range(columns)) + "|"
    body = ["| " + " | ".join(" ".join(cell.split()) for cell in row) + " |" for row in rows]
    return [head, delimiter, *(body * times)]


def _item(marker: str, blocks: Sequence[Lines], tight: bool) -> Lines:
    inner = _joined(blocks, [""] if not tight else [])
    pad = " " * (len(marker) + 1)
    return [f"{marker} {inner[0]}", *(pad + line if line else "" for line in inner[1:])]


def _joined(blocks: Sequence[Lines], between: Lines) -> Lines:
    lines: Lines = []
    for number, block in enumerate(blocks):
        lines += between if number else []
        lines += block
    return lines or [""]


def _list(items: Sequence[Sequence[Lines]], marker: str, tight: bool, times: int) -> Lines:
    return _joined([_item(marker, blocks, tight) for blocks in items] * times, [] if tight else [""])


def _html(text: str, form: str) -> Lines:
    return _split(form.replace("T", "\n".join(line for line in _split(text) if line.strip()) or "x"))


heading = st.builds(
    _heading,
    st.integers(1, 6),
    short_text | st.sampled_from(["Note", "Note", "A", "Heading " * 90]),
    st.sampled_from(["# T"] * 5 + ["=", "  # T", "# T ##", "#\tT"]),
)
real_heading = st.builds(_heading, st.integers(1, 4), st.sampled_from(["One", "Two", "Note", "A b c"]), st.just("# T"))
paragraph = (prose | endless).map(_split)
fenced = st.builds(
    _fenced,
    st.builds(lambda lines, times: lines * times, code_lines, st.sampled_from([1, 1, 3])),
    st.sampled_from(["```", "~~~", "````", "~~~~~"]),
    st.sampled_from(INFOS),
    st.sampled_from([True] * 5 + [False]),
)
indented = code_lines.map(lambda lines: ["    " + line for line in ["first", *lines, "last"]])
table = st.integers(1, 5).flatmap(
    lambda columns: st.builds(
        _table,
        st.lists(st.lists(short_text, min_size=1, max_size=columns + 1), min_size=1, max_size=6),
        st.just(columns),
        st.sampled_from([1, 1, 4, 30]),
    )
)
html = st.builds(
    _html,
    prose,
    st.sampled_from(
        [
            *["<div>\nT\n</div>", "<pre>\nT\n</pre>", "<!--\nT\n-->", "<table><tr><td>T</td></tr></table>"],
            *["<details>\nT", "<script>\nT\n</script>", "<p align='x'>T</p>"],
        ]
    ),
)
formula = st.builds(
    lambda term, times, form: form.replace("T", " + ".join([term] * times)).split("\n"),
    st.sampled_from(["x_1", "\\frac{a}{b}", "E = m c^2"]),
    st.sampled_from([1, 1, 4, 80]),
    st.sampled_from(["$$\nT\n$$", "$$T$$", "$$\nT\\\\\nT\n$$"]),
)
small = st.sampled_from(
    [
        ["* * *"],
        ["[^1]: A note.", "    It goes on."],
        ["[link]: a.md 'title'"],
        ["![a picture](a.png)"],
        ["![](a.png)"],
        ["Table 1: numbers."],
        ["&nbsp;"],
        ["   "],
        ["||"],
        ["| |", "|---|", "| |"],
    ]
)
leaf = st.one_of(paragraph, paragraph, fenced, indented, table, html, formula, small)
lists = st.recursive(
    leaf,
    lambda inner: (
        st.builds(
            _list,
            st.lists(
                st.lists(inner | short_text.map(_split), min_size=1, max_size=3)
                | short_text.map(lambda text: [[text]]),
                min_size=1,
                max_size=4,
            ),
            st.sampled_from(MARKERS),
            st.booleans(),
            st.sampled_from([1, 1, 2, 12]),
        )
        | inner.map(lambda lines: ["> " + line for line in lines])
    ),
    max_leaves=6,
)
block = st.one_of(heading, real_heading, leaf, lists)
front_matter = st.sampled_from([[], [], [], ["---", "# a comment", "title: A title", "---"], ["+++", "a = 1", "+++"]])


def _document(head: Lines, blocks: list[Lines], between: Lines, end: str, bom: str) -> str:
    return bom + end.join(_joined([*([head] if head else []), *blocks], between))


markdown_texts = st.builds(
    _document,
    front_matter,
    st.lists(block, max_size=14),
    st.sampled_from([[""], [""], [""], ["", ""], [" "], []]),
    st.sampled_from(LINE_ENDS),
    st.sampled_from(["", "", "", "\ufeff"]),
)
closed = st.one_of(
    st.lists(plain_sentence, min_size=1, max_size=12).map("".join).map(_split),
    st.builds(
        _list,
        st.lists(plain_sentence.map(lambda text: [[text]]), min_size=1, max_size=5),
        *map(st.just, ("-", True, 3)),
    ),
    st.builds(_fenced, st.lists(st.just("x = 1"), max_size=30), *map(st.just, ("```", "py", True))),
    st.builds(_table, st.lists(st.lists(plain_sentence, min_size=1, max_size=2), max_size=5), st.just(2), st.just(2)),
)
"""Blocks that leave what follows them alone."""
sections = st.lists(
    st.builds(lambda head, own: _joined([head, *own], [""]), real_heading, st.lists(closed, max_size=3)),
    min_size=1,
    max_size=10,
)
