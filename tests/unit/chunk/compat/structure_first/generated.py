"""Random Markdown, the odd kinds above all, the same for the same seed on every version of Python."""

import random

_WORDS = {
    "latin": [
        "alpha",
        "bravo",
        "charlie",
        "delta",
        "echo",
        "foxtrot",
        "e.g.",
        "Fig.",
        "Dr.",
        "U.S.",
        "3.14",
        "don't",
        "ﬁne",
        "naïve",
        "Übung",
        "façade",
        "x=y",
        "a_b_c",
    ],
    "cyrillic": ["река", "мост", "вода", "город", "ночь", "и", "что", "это", "ЭВМ", "т.е."],
    "cjk": ["漢字", "日本語の文。", "中文句子！", "한국어", "、", "「引用」", "。"],
    "arabic": ["سلام", "كتاب", "نهر؟", "مدينة", "والماء"],
    "thai": ["ภาษาไทย", "น้ำ", "แม่น้ำ"],
    "emoji": ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é̂", "🏳️‍🌈"],
    "code": [
        "`a.b!`",
        "``x ` y``",
        "$x_1$",
        "\\*",
        "&amp;",
        "<b>",
        "</b>",
        "[a](b.c 'd')",
        "![i](u)",
        "**bold**",
        "_it_",
    ],
    "long": ["w" * 90, "https://example.org/" + "path/" * 12, "ab-" * 40],
}
_MARKS = [". ", "! ", "? ", ".\n", "; ", " ", ", ", "... ", '." ', ".) ", ".", "\n", "  \n", "\\\n"]
_ODD = [
    "\u00a0",
    "\u2028",
    "\u2029",
    "\u0085",
    "\x0b",
    "\x0c",
    "\x1c",
    "\u3000",
    "\t",
    "\0",
    "\ufeff",
    "\u200b",
    "   ",
    " \t ",
]
_HTML = [
    "<div>\ntext\n</div>",
    "<!-- # no\n\nmore -->",
    "<pre>\n# x\n\ny</pre>",
    "<br/>",
    "<?php\n\n?>",
    "<a href='x'>",
    "<![CDATA[\n]]>",
    "<x",
    "<table><tr>",
]


def document(seed: int, size: int = 1200) -> str:
    """One document of about so many characters."""
    rng = random.Random(seed)
    families = rng.sample(sorted(_WORDS), k=rng.randint(1, 3)) if rng.random() < 0.6 else ["latin"]
    oddness = rng.choice([0, 0, 0.01, 0.05, 0.3])
    parts: list[str] = []
    if rng.random() < 0.15:
        parts.append(
            rng.choice(["---\ntitle: x\n---\n\n", "---\n# c\na: b\n...\n", "\ufeff", "\n\n\n", " ", "+++\na=1\n+++\n"])
        )
    length = 0
    goal = rng.randint(0, 2 * size)
    while length < goal:
        part = _block(rng, families, oddness, 0) + rng.choice(["\n\n", "\n\n", "\n\n", "\n", "\n \n", "\n\n\n\n", ""])
        parts.append(part)
        length += len(part)
    text = "".join(parts)
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    if rng.random() < 0.05:
        text = text.replace("\n", "\r", rng.randint(1, 3))
    if rng.random() < 0.1:
        text = text[: rng.randint(0, len(text))]
    return text


def _text(rng: random.Random, families: list[str], oddness: float, words: int) -> str:
    out: list[str] = []
    for _ in range(words):
        out.append(rng.choice(_WORDS[rng.choice(families if rng.random() < 0.9 else sorted(_WORDS))]))
        if rng.random() < oddness:
            out.append(rng.choice(_ODD))
        out.append(rng.choice(_MARKS) if rng.random() < 0.25 else " ")
    return "".join(out)


def _block(  # noqa: C901, PLR0911, PLR0912  # a case for each kind
    rng: random.Random, families: list[str], oddness: float, depth: int
) -> str:
    kind = rng.choice(
        ["heading"] * 4
        + ["prose"] * 8
        + [
            "setext",
            "fence",
            "table",
            "list",
            "list",
            "quote",
            "html",
            "code",
            "rule",
            "definition",
            "odd",
            "bare",
            "lines",
            "nested",
        ]
    )
    text = _text(rng, families, oddness, rng.choice([0, 1, 3, 8, 20, 60]))
    line = text.replace("\n", " ")[:200]
    match kind:
        case "heading":
            return _heading(rng, line)
        case "bare":
            return "\n".join(_heading(rng, line[: rng.randint(0, 20)]) for _ in range(rng.randint(1, 4)))
        case "setext":
            return line[:60] + "\n" + rng.choice(["===", "---", "=", "-", "--- ", "   ===", "    ---", "== =", "-\t"])
        case "fence":
            mark = rng.choice(["```", "~~~", "````", "``", "  ```", "```py"])
            return f"{mark}\n# c\n{text}\n\n{rng.choice(['', '# x', '- y'])}\n" + rng.choice(
                [mark.replace("py", ""), "", "```"]
            )
        case "table":
            row = "|" + "|".join(line.split()[:4] or ["a", "b"]) + "|"
            return "\n".join([row, "|---|:--|", *[row] * rng.randint(0, 12)])
        case "list":
            return _list(rng, families, oddness, depth)
        case "quote":
            marked = rng.choice(["> ", ">", " > ", ">\t", "> > "])
            inner = _block(rng, families, oddness, depth + 1) if depth < 3 else text
            lines = inner.split("\n")
            return "\n".join((marked if rng.random() < 0.9 else "") + each for each in lines)
        case "html":
            return rng.choice(_HTML) + rng.choice(["", "\n" + text, "\n\n" + text])
        case "code":
            return "\n".join(rng.choice(["    ", "\t", "  \t", "     "]) + each for each in [line, "# c", line[:9]])
        case "rule":
            return rng.choice(["---", "***", "___", "- - -", "* * *", "_ _ _ _", "--", "**", " ***", "+++"])
        case "definition":
            return rng.choice(
                [
                    "[a]: /u",
                    "[a]: <u v> 'title'",
                    '[a]:\n/u\n"t\nt"',
                    "[a]: /u x",
                    "[a]:",
                    "[a]: /u 'x\n===",
                    "[^1]: note. More.",
                    "[a] b",
                    "[\n",
                    "[a]: javascript:x",
                    "[a]: /u (t)\n[b]: /v",
                ]
            )
        case "odd":
            return rng.choice(_ODD) + text + rng.choice(_ODD)
        case "lines":
            return "\n".join(
                _text(rng, families, oddness, rng.randint(0, 4)).strip() for _ in range(rng.randint(1, 15))
            )
        case "nested":
            return rng.choice(
                [
                    ">" * rng.randint(2, 25) + " x",
                    "- " * rng.randint(2, 25) + "x",
                    "> - # a\n>   b",
                    "1. > # q\n   > t",
                    "#" * rng.randint(1, 9) + rng.choice([" ", "", "\t"]) + "a ::: b ::: c",
                ]
            )
        case _:
            return text


def _heading(rng: random.Random, line: str) -> str:
    lead = rng.choice(["", "", "", "", "", " ", "   ", "    ", "\t", "> ", "- "])
    marks = "#" * rng.choice([1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7])
    gap = rng.choice([" ", " ", " ", " ", "", "\t", "  ", "\u00a0", "\x0b"])
    tail = rng.choice(["", "", "", " #", " ##  ", " ::: x", " ::: a ::: b", "::: c", "\\"])
    return lead + marks + gap + line[: rng.randint(0, 40)] + tail


def _list(rng: random.Random, families: list[str], oddness: float, depth: int) -> str:
    mark = rng.choice(["-", "*", "+", "1.", "2)", "10.", "-", "1234567890."])
    lines: list[str] = []
    for _ in range(rng.randint(1, 8)):
        text = _text(rng, families, oddness, rng.randint(0, 12))
        if depth < 3 and rng.random() < 0.3:
            text = _block(rng, families, oddness, depth + 1)
        pad = " " * rng.choice([1, 1, 1, 2, 4, 5, 0])
        rest = text.split("\n")
        indent = " " * rng.choice([len(mark) + 1, 2, 0, 4])
        lines.append(mark + pad + ("\n" + indent).join(rest))
        if rng.random() < 0.2:
            lines.append("")
    lead = rng.choice(["", "", "", " ", "  ", "    "])
    return "\n".join(lead + each for each in lines)
