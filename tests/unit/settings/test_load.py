import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingestd.errors import ConfigurationError
from ingestd.settings import Settings, load, root_for

FOLDER_OF_ROOT = """
[[root]]
name = "docs"
path = "docs"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "ingestd.toml"
    file.write_text(text, encoding="utf-8")
    return file


def refused(folder: Path, text: str, **options: str) -> list[str]:
    file = written(folder, text)
    with pytest.raises(ConfigurationError) as raised:
        load(file, environment={}, **options)  # type: ignore[arg-type]
    return [line.removeprefix(f"{file}:") for line in str(raised.value).splitlines()]


def test_without_a_file_the_defaults_hold() -> None:
    assert load(None) == Settings()


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load(written(tmp_path, "")) == Settings()


def test_paths_start_at_the_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "home" / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = load(written(tmp_path, FOLDER_OF_ROOT + '[[root]]\nname = "n"\npath = "~/notes"\ncollection = "n"\n'))
    assert [root.path for root in settings.roots] == [tmp_path / "docs", tmp_path / "home" / "notes"]


def test_a_root_starts_from_the_tables_at_the_top(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    settings = load(
        written(
            tmp_path,
            '[chunker]\nmax_size = 300\nunit = "tokens"\n[converter]\nocr = "off"\n[embedder]\nname = "hash"\nthreads = 2\n'
            + FOLDER_OF_ROOT
            + "[root.chunker]\nmax_size = 200\n",
        )
    )
    (root,) = settings.roots
    assert (root.chunker.max_size, root.chunker.unit) == (200, "tokens")
    assert root.converter.ocr == "off"
    assert root.embedder.name == "hash"
    assert settings.chunker.max_size == 300


def test_all_findings_come_together_each_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    findings = refused(
        tmp_path,
        '[store]\nknd = "edge"\ntimeout_seconds = "x"\n[daemon]\nrescan = "15x"\n'
        '[[root]]\nname = "docs"\npath = "docs"\npoll = "alwayz"\n[[root]]\nname = "docs"\npath = "absent"\n[[root]]\n',
    )
    assert findings[:4] == [
        "2: store.knd: unknown key; did you mean 'kind'?",
        "3: store.timeout_seconds: 'x' is not a number",
        (
            "5: daemon.rescan: '15x' is neither an interval such as '15m' (s, m, h or d) nor a cron line of five fields "
            "such as '0 3 * * *'"
        ),
        "9: root[1].poll: 'alwayz' is none of 'auto', 'always' or 'never'; did you mean 'always'?",
    ]
    assert findings[4] == "11: root[2].name: 'docs' names another root already: rename one"
    assert findings[5].startswith(f"12: root[2].path: {tmp_path}/absent does not exist")
    assert [line.split(" is ")[0] for line in findings[6:]] == ["13: root[3].name:", "13: root[3].path:"]


def test_a_fault_at_the_top_is_not_said_again_for_each_root(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert refused(tmp_path, "[chunker]\nmax_size = 0\n" + FOLDER_OF_ROOT) == [
        "2: chunker.max_size: 0 is out of range: expected at least 1"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[store]\nprefer_grpc = 1\n", "2: store.prefer_grpc: 1 is not true or false"),
        ("[embedder]\nbatch_tokens = true\n", "2: embedder.batch_tokens: True is not a whole number"),
        ("[embedder]\nbatch_tokens = 1.5\n", "2: embedder.batch_tokens: 1.5 is not a whole number"),
        ("[embedder]\ndevice = 3\n", "2: embedder.device: 3 is not a string"),
        ("store = 3\n", "1: store: 3 is not a table"),
        ("root = 3\n", "1: root: 3 is not an array"),
        ("root = [3]\n", "1: root[1]: 3 is not a table"),
        ("[root]\nname = 'a'\n", "1: root: {'name': 'a'} is not an array: begin each root with [[root]]"),
        ("instance = 'a b'\n", "1: instance: 'a b' does not match"),
        ("[store]\ntimeout_seconds = inf\n", "2: store.timeout_seconds: inf is not a finite number"),
        ("[converter]\nworkers = 65\n", "2: converter.workers: 65 is out of range: expected at most 64"),
        ("roots = []\n", "1: roots: unknown key; did you mean 'root'?"),
        ("[store]\nkind = 'server'\n", "2: store.kind: a server needs a url"),
        ("[store]\nurl = 'http://localhost:6333'\n", "2: store.url: the embedded store has no url"),
        ("[store]\nkind = 'server'\nurl = 'localhost'\n", "3: store.url: 'localhost' is no address"),
        ("[store]\napi_key_file = 'absent'\n", "2: store.api_key_file:"),
        ("[chunker]\nmin_size = 90\nmax_size = 80\n", "2: chunker.min_size: 90 is more than max_size (80)"),
        ("[chunker]\nunit = 'chars'\nmax_size = 63\n", "3: chunker.max_size: 63 chars leave no room"),
        (
            "[chunker]\nprofile = 'compact'\n",
            "2: chunker.profile: 'compact' is none of 'native' or 'compat'; did you mean",
        ),
        ("[chunker]\nprofil = 'compat'\n", "2: chunker.profil: unknown key; did you mean 'profile'?"),
        ("[chunker]\nunit = 'char'\n", "2: chunker.unit: 'char' is none of 'tokens' or 'chars'; did you mean 'chars'?"),
        (
            "[chunker]\nprofile = 'compat'\nunit = 'tokens'\n",
            '3: chunker.unit: the profile "compat" counts characters, as the published packages do: set unit = "chars"',
        ),
        (
            "[chunker]\nprofile = 'compat'\ntarget_size = 90\n",
            '3: chunker.target_size: structure-first in the profile "compat" has no target_size',
        ),
        (
            "[chunker]\nname = 'grain-growth'\nprofile = 'compat'\nmin_size = 90\n",
            '4: chunker.min_size: grain-growth in the profile "compat" has no min_size',
        ),
        ("[embedder]\nmodel_dir = 'absent'\n", "2: embedder.model_dir:"),
        ("[chunker]\nsegmenter_model_dir = 'absent'\n", "2: chunker.segmenter_model_dir:"),
        ("[chunker]\nsegmenter_revision = 'main'\n", "2: chunker.segmenter_revision: 'main' does not match"),
        ("[chunker]\nsegmenter_threshold = 0.0\n", "2: chunker.segmenter_threshold: 0.0 is out of range"),
        ("a = \n", "1: this is no TOML"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(tmp_path: Path, text: str, expected: str) -> None:
    (finding,) = refused(tmp_path, text)
    assert finding.startswith(expected)


def test_a_root_of_the_other_profile_is_told_of_the_unit_that_it_inherits(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    top = "[chunker]\nunit = 'tokens'\n" + FOLDER_OF_ROOT + "[root.chunker]\nprofile = 'compat'\n"
    (finding,) = refused(tmp_path, top)
    assert finding.partition(": ")[2].startswith('root[1].chunker.unit: the profile "compat" counts characters')
    settings = load(written(tmp_path, top + "unit = 'chars'\nmax_size = 50\n"))
    assert (settings.roots[0].chunker.profile, settings.roots[0].chunker.max_size) == ("compat", 50)
    assert settings.chunker.profile == "native"


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ingestd.toml"
    file.write_bytes(b"a = '\xff'\n")
    with pytest.raises(ConfigurationError, match="byte 5 is not UTF-8"):
        load(file)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "ingestd.toml"
    file.write_bytes(b"\xef\xbb\xbfinstance = 'x'\r\n[store]\r\nprefer_grpc = true\r\n")
    assert load(file).instance == "x"


def test_roots_that_overlap_through_a_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("docs/sub")
    (finding,) = refused(tmp_path, FOLDER_OF_ROOT + '[[root]]\nname = "b"\npath = "link"\n')
    assert "overlaps" in finding


def test_two_embedders_in_one_collection_are_refused(tmp_path: Path) -> None:
    for name in ("docs", "b"):
        (tmp_path / name).mkdir()
    other = '[[root]]\nname = "b"\npath = "b"\n[root.embedder]\nname = "hash"\n'
    (finding,) = refused(tmp_path, FOLDER_OF_ROOT + other)
    assert "5: root[2].collection" in finding
    apart = other.replace("[root.embedder]", 'collection = "other"\n[root.embedder]')
    assert len(load(written(tmp_path, FOLDER_OF_ROOT + apart)).roots) == 2


def test_a_missing_folder_may_be_allowed_but_a_file_in_its_place_may_not(tmp_path: Path) -> None:
    assert load(written(tmp_path, FOLDER_OF_ROOT), absent_folders="allowed").roots[0].path == tmp_path / "docs"
    (tmp_path / "docs").touch()
    (finding,) = refused(tmp_path, FOLDER_OF_ROOT, absent_folders="allowed")
    assert "is not a folder" in finding


def test_a_key_file_may_be_a_systemd_credential(tmp_path: Path) -> None:
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "key").touch()
    file = written(tmp_path, "[store]\nkind = 'server'\nurl = 'http://h'\napi_key_file = 'key'\n")
    settings = load(file, environment={"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")})
    assert settings.store.api_key_file == tmp_path / "credentials" / "key"


def test_a_folder_named_on_the_command_line_becomes_a_root(tmp_path: Path) -> None:
    settings = Settings()
    assert root_for(Path("/srv/my docs"), settings, ()).name == "my_docs"
    assert root_for(Path("/srv/docs"), settings, ("docs", "docs-2")).name == "docs-3"
    assert root_for(Path("/"), settings, ()).name == "root"
    odd = Path(os.fsdecode(b"/srv/\xff"))
    assert root_for(odd, settings, ()).name == "root"
    assert os.fsencode(root_for(odd, settings, ()).path) == b"/srv/\xff"


def test_pydantic_is_not_imported_without_a_file() -> None:
    code = "import sys; from ingestd.settings import load; load(None); sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_folder_of_a_segmenters_model_starts_at_the_configuration(tmp_path: Path) -> None:
    for name in ("docs", "one", "two"):
        (tmp_path / name).mkdir()
    roots = FOLDER_OF_ROOT + "[root.chunker]\nsegmenter_model_dir = 'two'\n"
    settings = load(written(tmp_path, "[chunker]\nsegmenter_model_dir = 'one'\n" + roots))
    assert settings.chunker.segmenter_model_dir == tmp_path / "one"
    assert settings.roots[0].chunker.segmenter_model_dir == tmp_path / "two"


def test_the_folder_of_a_segmenters_model_has_to_be_there_for_each_root(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = FOLDER_OF_ROOT + "[root.chunker]\nsegmenter_model_dir = 'absent'\n"
    (finding,) = refused(tmp_path, text)
    assert "segmenter_model_dir" in finding
    assert "put the model's files there" in finding
