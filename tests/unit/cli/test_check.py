import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ingestd.daemon.state import Places, open_ledger, state_id
from ingestd.model.identity import Instance
from tests.unit.adapters.tiny_sat import write_model

from .conftest import Run

SETTINGS = '[embedder]\nname = "hash"\n[chunker]\nsegmenter = "punctuation"\n'


def findings(out: str) -> dict[str, tuple[bool, str]]:
    return {found["subject"]: (found["ok"], found["message"]) for found in json.loads(out)["findings"]}


def checked(run: Run, home: Path, text: str) -> tuple[int, dict[str, tuple[bool, str]]]:
    (home / "ingestd.toml").write_text(text)
    code, out, _ = run("check", "--json")
    return code, findings(out)


def test_a_sound_installation_is_all_well(run: Run, home: Path) -> None:
    (home / "docs").mkdir()
    code, found = checked(run, home, SETTINGS + '[[root]]\nname = "docs"\npath = "docs"\n')
    assert {subject for subject, (ok, _) in found.items() if not ok} == set()
    assert code == 0
    assert found["root docs"] == (True, f"{home}/docs")
    assert found["embedder hash"][1].startswith("loaded and verified, 384 dimensions")
    assert not (home / ".local").exists()


def test_a_root_that_holds_the_state_directory_is_amiss(run: Run, home: Path) -> None:
    (home / "ingestd.toml").write_text(SETTINGS + '[[root]]\nname = "all"\npath = "."\n')
    code, out, _ = run("--state-dir", str(home / "state"), "check", "--json")
    assert code == 1
    assert "holds the state directory" in findings(out)["state"][1]


def test_every_finding_of_the_configuration_is_one(run: Run, home: Path) -> None:
    (home / "ingestd.toml").write_text("[store]\nknd = 1\n[daemon]\nrescan = 'x'\n")
    code, out, _ = run("check")
    assert code == 1
    assert f"AMISS  configuration: {home}/ingestd.toml:2: store.knd: unknown key; did you mean 'kind'?" in out
    assert "ingestd.toml:4: daemon.rescan" in out
    assert out.splitlines()[-1] == "2 amiss"


@pytest.mark.parametrize(
    ("text", "subject", "message"),
    [
        ("[store]\nmin_free_bytes = 9000000000000000000\n", "disk space", "make room"),
        ("[embedder]\nname = 'hsh'\n", "embedder hsh", "no embedder is called 'hsh'; installed:"),
        ("[embedder]\nname = 'hash'\ndevice = 'cuda'\n", "embedder hash", "device"),
        ("[chunker]\nsegmenter = 'x'\n", "segmenter x", "no segmenter is called 'x'"),
        ("[chunker]\nsegmenter = 'sat-9l'\n", "segmenter sat-9l", "sat-9l-sm/snapshots holds no revision"),
        ("[chunker]\nsegmenter_device = 'cuda'\n", "segmenter sentencex", "has no device"),
        ("[chunker]\nmin_size = 239\n", "chunker", "min_size"),
        ("[converter]\npdf = 'x'\n", "converter of PDF", "no converter is called 'x'"),
    ],
)
def test_what_is_amiss_is_named(run: Run, home: Path, text: str, subject: str, message: str) -> None:
    table = "" if "embedder" in text else '[embedder]\nname = "hash"\n'
    code, found = checked(run, home, table + text)
    assert code == 1
    ok, said = found[subject]
    assert not ok
    assert message in said


def test_a_root_around_the_state_is_amiss_unless_the_state_is_hidden(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SETTINGS + "[[root]]\nname = 'all'\npath = '.'\n"
    assert checked(run, home, text)[0] == 0
    monkeypatch.setenv("INGESTD_STATE_DIR", str(home / "state"))
    code, found = checked(run, home, text)
    assert code == 1
    assert "holds the state directory" in found["state"][1]


def test_a_server_that_does_not_answer_is_amiss(run: Run, home: Path) -> None:
    text = '[embedder]\nname = "hash"\n[store]\nkind = "server"\nurl = "http://127.0.0.1:1"\ntimeout_seconds = 0.2\n'
    code, found = checked(run, home, text)
    assert code == 1
    assert not found["store server"][0]


def test_without_a_configuration_the_defaults_are_checked(run: Run) -> None:
    _, out, _ = run("check", "--json")
    assert findings(out)["configuration"] == (True, "none; the built-in defaults hold")
    assert json.loads(out)["configuration"] is None


def test_sizes_that_the_embedder_does_not_take_are_amiss(run: Run, home: Path) -> None:
    for name in ("a", "b"):
        (home / name).mkdir()
    code, found = checked(
        run,
        home,
        SETTINGS
        + '[[root]]\nname = "a"\npath = "a"\n[[root]]\nname = "b"\npath = "b"\n[root.chunker]\nmax_size = 9000\n',
    )
    assert code == 1
    assert {subject for subject, (ok, _) in found.items() if not ok} == {"chunker of root b"}
    assert "max_size is 9000 tokens and the embedder takes 512" in found["chunker of root b"][1]
    assert found["chunker of root a"] == (True, "structure-first, at most 120 tokens")


def test_a_segmenter_with_a_model_is_loaded_and_tells_its_device(run: Run, home: Path) -> None:
    write_model(home / "sat")
    text = '[embedder]\nname = "hash"\n[chunker]\nsegmenter = "sat-3l"\nsegmenter_model_dir = "sat"\n'
    _, found = checked(run, home, text)
    ok, said = found["segmenter sat-3l"]
    assert ok
    assert said.startswith("sat-3l/1+weights.")
    assert said.endswith("+threshold.0.25, on cpu")


def test_nothing_starts_on_a_segmenter_that_does_not_work(run: Run, home: Path) -> None:
    (write_model(home / "sat") / "tokenizer.json").unlink()
    (home / "docs").mkdir()
    (home / "docs" / "a.md").write_text("# A\n\nOne.\n")
    (home / "ingestd.toml").write_text(
        '[embedder]\nname = "hash"\n[chunker]\nsegmenter = "sat-3l"\nsegmenter_model_dir = "sat"\n'
        '[daemon]\nsettle_seconds = 0\n[[root]]\nname = "docs"\npath = "docs"\n'
    )
    code, _, error = run("sync")
    assert (code, f"{home}/sat does not hold tokenizer.json" in error) == (2, True)
    # The daemon in a process of its own, since it takes hold of standard error.
    daemon = subprocess.run(
        [sys.executable, "-m", "ingestd", "--config", home / "ingestd.toml", "--state-dir", home / "other", "run"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert daemon.returncode == 2
    assert f"{home}/sat does not hold tokenizer.json" in daemon.stderr
    assert "daemon.ready" not in daemon.stderr


def test_a_ledger_is_looked_into(run: Run, home: Path) -> None:
    (home / "docs").mkdir()
    settings = SETTINGS + '[[root]]\nname = "docs"\npath = "docs"\n'
    (home / "ingestd.toml").write_text(settings)
    places = Places(directory=home / "state")
    open_ledger(places, instance=Instance("default"), configuration=home / "ingestd.toml").close()
    state_id(places)

    def ledger() -> tuple[bool, str]:
        return findings(run("--state-dir", str(places.directory), "check", "--json")[1])["ledger"]

    assert ledger() == (True, "whole, and of this configuration")
    places.identity.rename(home / "identity")
    assert "run `ingestd sync --adopt`" in ledger()[1]
    (home / "identity").rename(places.identity)
    with sqlite3.connect(places.ledger) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of tomorrow'")
    connection.close()
    assert "another version of ingestd" in ledger()[1]
    places.ledger.write_bytes(b"no ledger" * 1000)
    assert not ledger()[0]
