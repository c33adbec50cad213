import pytest

from ingestd.discover.rules import RULES_FILE, WANTED, FolderRules, Ignored, Rules, top_rules
from ingestd.errors import ConfigurationError


def wanted(rules: FolderRules, path: str, *, is_directory: bool = False) -> bool:
    """Verdict on a path as a scan comes to it: each directory above it must be wanted."""
    parts = path.encode().split(b"/")
    for depth, part in enumerate(parts[:-1]):
        if rules.verdict(part, is_directory=True) != WANTED:
            return False
        rules = rules.enter(b"/".join(parts[: depth + 1]))
    return rules.verdict(parts[-1], is_directory=is_directory) == WANTED


def reason(rules: FolderRules, name: str) -> str:
    verdict = rules.verdict(name.encode(), is_directory=False)
    assert isinstance(verdict, Ignored)
    return verdict.reason


@pytest.mark.parametrize(
    "name",
    [
        "a.part",
        "a.PARTIAL",
        "a.pdf.crdownload",
        "a.download",
        "a.tmp",
        "a.swp",
        "~$a.docx",
        ".~lock.a.odt#",
        "a.filepart",
        ".goutputstream-X1",
        ".smbdelete1",
        "._a.md",
        ".DS_Store",
        "a.md~",
        "#a.md#",
        ".hidden.md",
        "Thumbs.db",
    ],
)
def test_temporary_and_hidden_names_are_ignored_by_default(name):
    assert not wanted(top_rules(Rules()), name)


@pytest.mark.parametrize(
    "name", ["a.md", "README", "part", "tmp.md", "a.b.c.md", "#1 notes.md", "a~b.md", "~home.md", "x.db"]
)
def test_ordinary_names_are_wanted(name):
    assert wanted(top_rules(Rules()), name)


def test_hidden_directories_are_not_looked_into():
    assert not wanted(top_rules(Rules()), ".git", is_directory=True)


def test_a_negated_exclude_lets_a_hidden_name_in_but_not_what_is_temporary_in_it():
    rules = top_rules(Rules(exclude=("!.github/",)))
    assert wanted(rules, ".github/guide.md")
    assert not wanted(rules, ".github/guide.md.part")


def test_include_narrows_files_and_not_directories():
    rules = top_rules(Rules(include=("*.md", "!draft-*")))
    assert wanted(rules, "a/b/c.md")
    assert not wanted(rules, "a/b/c.txt")
    assert not wanted(rules, "a/draft-c.md")
    assert reason(rules, "c.txt") == "not in `include`"


def test_a_name_excluded_by_the_configuration_cannot_be_let_in_by_a_folder():
    rules, bad = top_rules(Rules(exclude=("private/",))).reading(b"!private/\n!*.md\n")
    assert bad == ()
    assert not wanted(rules, "private/a.md")


def test_unsupported_types_have_their_own_reason():
    rules = top_rules(Rules(wanted_suffixes=frozenset((".md", ".PDF"))))
    assert wanted(rules, "a.MD")
    assert wanted(rules, "a.pdf")
    assert reason(rules, "a.exe") == "unsupported type"
    assert reason(rules, "README") == "unsupported type"
    assert wanted(top_rules(Rules(wanted_suffixes=frozenset(("",)))), "README")


def test_the_rules_file_itself_is_no_source():
    rules = top_rules(Rules(exclude=("!.*",)))
    assert wanted(rules, ".notes.md")
    assert not wanted(rules, RULES_FILE.decode())


def test_the_reason_names_the_file_that_ignores():
    rules, _ = top_rules(Rules()).enter(b"a/b").reading(b"*.log\n")
    assert reason(rules, "x.log") == "in a/b/.ingestignore"


def test_a_set_that_runs_backwards_is_reported_and_the_other_lines_hold():
    rules, bad = top_rules(Rules()).reading(b"[b-a]\n*.md\n")
    assert bad == ("line 1, '[b-a]', is no pattern",)
    assert isinstance(rules.verdict(b"a.md", is_directory=False), Ignored)


def test_a_rules_file_may_have_a_byte_order_mark_and_carriage_returns():
    rules, bad = top_rules(Rules()).reading(b"\xef\xbb\xbf*.log\r\n# note\r\n\r\n!keep.log\r\n")
    assert bad == ()
    assert not wanted(rules, "a.log")
    assert wanted(rules, "keep.log")


def test_everything_below_a_directory_may_be_ignored_but_for_some():
    rules = top_rules(Rules(exclude=("foo/**", "!foo/keep.md")))
    assert wanted(rules, "foo/keep.md")
    assert not wanted(rules, "foo/other.md")


def test_a_pattern_matches_names_with_line_feeds_and_undecodable_bytes():
    rules = top_rules(Rules(exclude=("*.log",)))
    for name in (b"a\nb.log", b"\xff\xfe.log"):
        assert isinstance(rules.verdict(name, is_directory=False), Ignored)
    assert rules.verdict(b"a.log\n", is_directory=False) == WANTED
    assert rules.enter(b"x\ny").verdict(b"a.log", is_directory=False) != WANTED


@pytest.mark.parametrize("glob", ["!", "\\"])
def test_a_glob_without_meaning_names_its_key(glob):
    with pytest.raises(ConfigurationError, match="`include`"):
        top_rules(Rules(include=(glob,)))


@pytest.mark.parametrize(
    ("lines", "path", "is_in"),
    [
        ("*", "a.md", False),
        ("**", "a/b.md", False),
        ("*/", "a.md", True),
        ("*/", "a/b.md", False),
        ("**/", "a.md", True),
        ("/a.md", "b/a.md", True),
        ("a/b.md", "c/a/b.md", True),
        ("**/a/b.md", "c/a/b.md", False),
        ("a/**/b.md", "a/x/y/b.md", False),
        ("a/**/b.md", "a/b.md", False),
        ("/foo/**/", "foo/a.md", True),
        ("/foo/**/", "foo/x/a.md", False),
        ("foo\n!foo/keep.md", "foo/keep.md", False),
        ("*.md\n!docs/", "docs/a.md", False),
        ("/", "a/b.md", True),
        ("[ab].md", "a.md", False),
        ("\\#a", "#a", False),
        ("a.md  ", "a.md", False),
    ],
)
def test_lines_mean_what_they_mean_to_git(lines, path, is_in):
    rules, _ = top_rules(Rules()).reading(lines.encode())
    assert wanted(rules, path) is is_in
