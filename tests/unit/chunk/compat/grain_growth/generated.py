"""Block lists and texts to trip a chunker, drawn from a seed."""

from random import Random
from typing import Any, NamedTuple

KINDS = (
    ["paragraph"] * 10 + ["formula"] * 5 + ["list"] * 3 + ["table"] * 2 + ["caption"] * 2 + ["section"] * 2
    + ["title", "footnote", "authors", "code", "picture"]
)  # fmt: skip
WORDS = [
    *["the", "grain", "of", "steel", "a", "x", "Growth", "Then", "I", "where", "and", "is", "2", "3.5", "(see", "[4]"],
    *['"Quoted', "\u201cCurly\u201d", "\u2018single\u2019", "e.g.", "i.e.", "et al.", "Fig.", "figs.", "Eq.", "EQS."],
    *["Secs.", "sec.", "Tab.", "tabs.", "Ref.", "Alg.", "Def.", "Thm.", "Lem.", "Prop.", "vs.", "cf.", "approx."],
    *["resp.", "Dr.", "Prof.", "St.", "Mr.", "Ms.", "Mrs.", "No.", "p.", "i.e.g.", "I.E.G.", "x.e.g.", "e.g.i.e."],
    *["et  al.", "et\nal.", "_Fig.", "\u017fec.", "f\u0131g.", "F\u0130g.", "re\ufb00s.", "pre-fig.", "\u00e9fig."],
    *["zerno", "\u0437\u0435\u0440\u043d\u043e", "\u0420\u043e\u0441\u0442", "\u4f60\u597d\u3002", "\u4e16\u754c"],
    *["\u0645\u0631\u062d\u0628\u0627\u061f", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u00c9cole", "e\u0301t\u00e9"],
    *[
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u00aa",
        "\u24d0",
        "\u0149",
        "\u01c5",
        "\ud800",
        "\0",
        "a\0",
        "\0.",
    ],
    *[
        "~",
        "~~",
        "~~~",
        "~~~~",
        "~~~table",
        "~~~~~ formula",
        "---",
        "|",
        "| a | b |",
        "$x_1$",
        "https://example.org/a.B",
    ],
    *["antidisestablishmentarianism" * 2, "\ufeff", "\u200b"],
]
GAPS = [" "] * 30 + [
    *["\n"] * 4, "\n\n", "\n\n\n", "  ", "\t", "\r", "\r\n", "\u2028", "\u2029", "\u00a0", "\u3000", "\x1c", "\x0b",
    "\x85", "\f", "", " \n ",
]  # fmt: skip
STOPS = [
    *["."] * 9, "!", "?", "...", "?!", "\u2026", "\u3002", "\uff01", ":", ";", ".)", ".]", '."', ".'", ".\u201d",
    ".\u2019", ".\u00bb", ".[3]", ").", ".)\n)", ". ", ".\0", "", "",
]  # fmt: skip
LINES = ["~~~", "~~~ ", "~~~~", "~~~table", " ~~~", "~~~\r", "~~~\u2028", "~~", "", " ", "~~~~~~~", "~~~ part 1 of 2"]
BLANK = ["", " ", "\n", "\n\n\n", "\u00a0", "\x1c\x1f", "\u2028"]


class Case(NamedTuple):
    """Arguments of ``chunk_document``."""

    blocks: list[dict[str, Any]]
    filename: str
    sizes: dict[str, Any]


def case(seed: int) -> Case:
    """One block list with sizes; the same for the same seed on every Python."""
    draw = Random(f"grain-growth {seed}")
    sizes = _sizes(draw)
    scale = max(4, min(2000, int(sizes.get("max_chars", 2000))))
    blocks = [_block(draw, scale, position) for position in range(draw.randrange(1, 14 if scale > 300 else 26))]
    if draw.random() < 0.04:
        for block in blocks:
            block["page"] = draw.choice([None, 3, 3, block["page"]])
    return Case(blocks, draw.choice(["paper", "", "a.b", "\u6587"]), sizes)


def text(seed: int) -> str:
    """One text for the functions that take one."""
    draw = Random(f"text {seed}")
    return draw.choice([_prose, _fences, _table])(draw, draw.choice([3, 10, 40, 200, 1000]))


def _sizes(draw: Random) -> dict[str, Any]:
    kind = draw.random()
    if kind < 0.08:
        return {}
    if kind < 0.14:
        return {"target_chars": draw.randrange(200, 900), "max_chars": draw.randrange(300, 1200)}
    target, most = draw.randrange(5, 120), draw.randrange(10, 160)
    if kind < 0.8:
        most = max(target, most)
    elif kind < 0.84:
        most = draw.choice([0, -1, 1, target, target + 0.5])
    elif kind < 0.86:
        target = draw.choice([0, -3, 1, 2.5])
    lead = draw.choice([2, 2, 2, 0, 1, 3, 5, 12, -1])
    return {"target_chars": target, "max_chars": most, "lead_sentences": lead}


def _block(draw: Random, scale: int, position: int) -> dict[str, Any]:
    kind = draw.choice(KINDS)
    block = {
        "type": kind,
        "text": _text(draw, kind, scale),
        "page": max(0, position // 4 + draw.choice([0, 0, 0, 1, -1])),
    }
    if draw.random() < 0.05:
        block["bbox"] = [position, 1]
    if kind in {"title", "section"} and draw.random() < 0.05:
        block["text"] = None
    return block


def _text(draw: Random, kind: str, scale: int) -> str:
    if draw.random() < 0.05:
        return draw.choice(BLANK)
    length = max(1, int(scale * draw.choice([0.1, 0.2, 0.3, 0.5, 0.9, 1.1, 2.5])))
    if kind in {"table", "code"}:
        return _table(draw, length)
    if kind == "formula":
        return draw.choice(
            ["x = y", "E = mc^2", "0123456789", "\\alpha + \\beta = \\gamma", _fences(draw, length // 4 + 1)]
        )
    if kind in {"title", "section"}:
        return " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 5)))
    if kind == "list":
        return "\n".join(_prose(draw, draw.randrange(1, length + 1)) for _ in range(draw.randrange(1, 6)))
    prose = _prose(draw, length)
    return draw.choice([prose, prose, prose, _continued(draw, prose), _fences(draw, length)])


def _continued(draw: Random, prose: str) -> str:
    """Likely the first or the second half of a sentence."""
    return draw.choice(
        ["where " + prose, prose.rstrip(".!? ") + " such that", " \n" + prose, prose + draw.choice(STOPS)]
    )


def _prose(draw: Random, length: int) -> str:
    parts: list[str] = []
    so_far = 0
    sentence = draw.choice([3, 6, 12, 60])
    while so_far < length:
        word = draw.choice(WORDS)
        stop = draw.choice(STOPS) if draw.randrange(sentence) == 0 else ""
        if stop and draw.random() < 0.7:
            word, stop = (
                word.rstrip("."),
                stop + draw.choice([" Then", " A", " 5", " (so", "\nThe", " \u201cX", " \u0420"]),
            )
        parts += [word, stop, draw.choice(GAPS)]
        so_far += sum(map(len, parts[-3:]))
    return "".join(parts if draw.random() < 0.2 else parts[:-1])


def _fences(draw: Random, length: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < length:
        lines.append(draw.choice(LINES) if draw.random() < 0.4 else _prose(draw, 12))
    return "\n".join(lines)


def _table(draw: Random, length: int) -> str:
    rows = [""] * draw.choice([0, 0, 0, 1, 3])
    while sum(map(len, rows)) + len(rows) < length:
        cells = [draw.choice(WORDS).replace("\n", " ") for _ in range(draw.randrange(1, 5))]
        rows.append(draw.choice(["| " + " | ".join(cells) + " |", draw.choice(LINES), "\t".join(cells), ""]))
        if length > 2000 and len(rows) > 400:
            break
    return draw.choice(["\n", "\n", "\n", "\r\n"]).join(rows)
