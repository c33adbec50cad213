"""The page of promises names each once, and tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "behaviour.md"
ROW = re.compile(r"\| (?P<number>[A-Z]\d+) \| (?P<promise>[^|]+) \| (?P<tests>[^|]+) \|")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[re.Match[str]]:
    return [found for line in PAGE.read_text("utf-8").splitlines() if (found := ROW.fullmatch(line))]


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_each_promise_has_a_number_of_its_own_in_order():
    numbers = [row["number"] for row in rows()]
    for letter in dict.fromkeys(number[0] for number in numbers):
        ours = [number for number in numbers if number[0] == letter]
        assert ours == [f"{letter}{place}" for place in range(1, len(ours) + 1)]
    assert len(numbers) == PAGE.read_text("utf-8").count("\n| ") - PAGE.read_text("utf-8").count("\n| number |")


def test_each_promise_names_tests_that_exist():
    for row in rows():
        named = NAMED.findall(row["tests"])
        assert named, row["number"]
        for file, test in named:
            assert test.startswith("test_")
            assert test in names_in(file), f"{row['number']} names {file}::{test}"
