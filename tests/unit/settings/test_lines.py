import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ingestd.settings.lines import line_of, lines_of

KEY = st.from_regex(r"[A-Za-z_-]{1,6}", fullmatch=True)
ODD_KEY = st.text(alphabet=st.sampled_from("ab\"\\#[]{}=. 'é\t"), min_size=1, max_size=5)


def test_tables_arrays_of_tables_and_dotted_keys_are_found() -> None:
    lines = lines_of(
        '# a comment = 1\ninstance = "x"\n\n[store]\nkind = "edge"\n[[root]]\nname = "a"\n[root.chunker]\nmax_size = 5\n'
        "[[root]]\nchunker.max_size = 6\n"
    )
    assert lines["instance",] == 2
    assert lines["store",] == 4
    assert lines["store", "kind"] == 5
    assert lines["root",] == 6
    assert lines["root", 0, "chunker", "max_size"] == 9
    assert lines["root", 1] == 10
    assert lines["root", 1, "chunker"] == 11
    assert lines["root", 1, "chunker", "max_size"] == 11


def test_what_looks_like_a_key_inside_a_string_is_passed_over() -> None:
    lines = lines_of('a = """\n[fake]\nb = 1\\"""\n"""\nc = \'\'\'\nd = 2\n\'\'\'\ne = "# [x]" # f = 3\ng = 1\n')
    assert dict(lines) == {("a",): 1, ("c",): 5, ("e",): 8, ("g",): 9}


def test_strings_that_end_in_quotation_marks_are_read_to_their_end() -> None:
    lines = lines_of('a = """x"""""\nb = 1\n')
    assert tomllib.loads('a = """x"""""\nb = 1\n') == {"a": 'x""', "b": 1}
    assert lines["b",] == 2


def test_items_of_arrays_and_inline_tables_have_lines() -> None:
    lines = lines_of(
        'include = [\n  "a", # one\n  "b,]",\n]\nt = { x = 1, "y z" = [ { q = 2 } ] }\nlast = 2026-01-01\n'
    )
    assert lines["include", 1] == 3
    assert lines["t", "y z", 0, "q"] == 5
    assert lines["last",] == 6


def test_a_key_that_is_not_written_has_the_line_of_its_table() -> None:
    lines = lines_of('[[root]]\nname = "a"\n')
    assert line_of(lines, ("root", 0, "path")) == 1
    assert line_of(lines, ("store", "url")) is None


@given(
    st.recursive(st.none(), lambda inner: st.dictionaries(st.one_of(KEY, ODD_KEY), inner, max_size=4), max_leaves=12)
)
def test_every_leaf_of_any_document_has_the_line_that_it_was_written_on(tree: Any) -> None:
    text = "\n".join(_written(tree or {}, "", _Counter()))
    lines = lines_of(text)
    for path, line in _leaves(tomllib.loads(text), ()):
        assert lines[path] == line


class _Counter:
    def __init__(self) -> None:
        self.line = 0

    def next(self) -> int:
        self.line += 1
        return self.line


def _written(table: dict[str, Any], prefix: str, counter: _Counter) -> Iterator[str]:
    """Leaves hold their own line number; inner tables get a header each."""
    for key, value in table.items():
        if value is None:
            line = counter.next()
            yield f"  {_quoted(key)} = {line}  # {key!r}" if "\t" not in key else f"{_quoted(key)}={line}"
    for key, value in table.items():
        if value is not None:
            counter.next()
            name = f"{prefix}{_quoted(key)}"
            yield f"[ {name} ]"
            yield from _written(value, f"{name} . ", counter)


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("é", "\\u00e9")
    return f'"{escaped}"'


def _leaves(table: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value
