import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from ingestd import failpoints
from ingestd.errors import OutOfSpace, StateUnusable, TransientError
from ingestd.state import facts
from ingestd.state.engine import Ledger
from ingestd.state.schema import quick_check


def pragmas(connection: object, *names: str) -> dict[str, object]:
    return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}


def test_the_settings_that_a_crash_must_meet_are_in_force(ledger: Ledger):
    with ledger.write("look") as transaction:
        found = pragmas(
            transaction,
            "journal_mode",
            "synchronous",
            "foreign_keys",
            "busy_timeout",
            "trusted_schema",
            "journal_size_limit",
            "application_id",
        )
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10000,
        "trusted_schema": 0,
        "journal_size_limit": 67108864,
        "application_id": 0x696E6764,
    }


def test_a_transaction_that_fails_leaves_nothing(ledger: Ledger):
    def fail_halfway() -> None:
        with ledger.write("half") as transaction:
            facts.state(transaction, "half", "done")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    with ledger.read() as transaction:
        assert facts.read(transaction, "half") is None
    with ledger.write("whole") as transaction:
        facts.state(transaction, "half", "done")
    with ledger.read() as transaction:
        assert facts.read(transaction, "half") == "done"


def test_each_fact_has_a_failpoint_before_and_after_its_commit(ledger: Ledger):
    seen: dict[str, str | None] = {}

    def look(name: str) -> None:
        with ledger.read() as transaction:
            seen[name] = facts.read(transaction, "key")

    failpoints.arm("", reached=look)
    try:
        with ledger.write("step") as transaction:
            facts.state(transaction, "key", "value")
    finally:
        failpoints.arm("")
    assert seen == {"ledger.step.before": None, "ledger.step.after": "value"}


def test_a_second_writer_waits_and_reads_what_the_first_wrote(ledger: Ledger):
    second = Ledger(ledger.file)
    inside, waiting, results = threading.Event(), threading.Event(), []

    def write() -> None:
        inside.wait(10)
        waiting.set()
        with second.write("second") as transaction:
            results.append(facts.read(transaction, "key"))
            facts.state(transaction, "key", "second")

    thread = threading.Thread(target=write)
    thread.start()
    with ledger.write("first") as transaction:
        inside.set()
        assert waiting.wait(10)
        # Read, then write: with a deferred transaction this is where the other writer would make it fail.
        facts.read(transaction, "key")
        facts.state(transaction, "key", "first")
    thread.join(20)
    assert results == ["first"]
    with ledger.read() as transaction:
        assert facts.read(transaction, "key") == "second"
    second.close()


def test_a_reader_is_never_kept_waiting_by_a_writer(ledger: Ledger):
    with ledger.write("slow") as transaction:
        facts.state(transaction, "key", "new")
        with ledger.read() as reader:
            assert facts.read(reader, "key") is None
    with ledger.read() as reader:
        assert facts.read(reader, "key") == "new"


def test_a_look_is_consistent_while_others_write(ledger: Ledger):
    with ledger.read() as reader:
        assert facts.read(reader, "key") is None
        with ledger.write("between") as transaction:
            facts.state(transaction, "key", "new")
        assert facts.read(reader, "key") is None


def test_a_reading_connection_sees_the_newest_commit_and_holds_no_snapshot(ledger: Ledger):
    with closing(ledger.reading_connection()) as connection:
        count = "SELECT count(*) FROM fact"
        assert connection.exec_driver_sql(count).scalar() == 0
        with ledger.write("more") as transaction:
            facts.state(transaction, "key", "value")
        assert connection.exec_driver_sql(count).scalar() == 1
        # A snapshot that is held keeps the log from being cut: it grew to 41 MiB in 200 commits.
        with closing(sqlite3.connect(ledger.file)) as other:
            busy, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert busy == 0


def test_a_reader_cannot_write(ledger: Ledger):
    with pytest.raises(StateUnusable, match="cannot be opened or written"), ledger.read() as transaction:
        facts.state(transaction, "key", "value")


def test_a_lock_that_another_program_keeps_is_passing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch):
    with closing(sqlite3.connect(ledger.file, isolation_level=None)) as other:
        with ledger.write("first"):
            pass
        with ledger._writer.connect() as connection:
            connection.exec_driver_sql("ROLLBACK")
            connection.exec_driver_sql("PRAGMA busy_timeout=20")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TransientError, match="locked by another program"), ledger.write("second"):
            pass
        other.execute("ROLLBACK")
    with ledger.write("third"):
        pass


def test_references_are_held_to(ledger: Ledger):
    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError), ledger.write("bad") as transaction:
        transaction.execute(
            text("INSERT INTO source(root_id, directory, name, looked_ns, state) VALUES(9,'','',0,'x')")
        )


def test_closing_leaves_one_file_with_everything_in_it(ledger: Ledger):
    with ledger.write("step") as transaction:
        facts.state(transaction, "key", "value")
    ledger.close()
    assert [file.name for file in ledger.file.parent.iterdir()] == ["ledger.sqlite"]


FULL = """
import resource, signal, sys
from pathlib import Path
from ingestd.errors import OutOfSpace
from ingestd.state import facts
from ingestd.state.engine import Ledger

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = Ledger(Path(sys.argv[1]))
with ledger.write("small") as transaction:
    facts.state(transaction, "small", "1")
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
failed = None
for n in range(200):
    try:
        with ledger.write("big") as transaction:
            facts.state(transaction, f"big{n}", "x" * 20_000)
    except Exception as error:
        failed = error
        break
print(type(failed).__name__, failed)
with ledger.read() as transaction:
    print(facts.read(transaction, "small"), facts.read(transaction, "big0")[:1], facts.read(transaction, f"big{n}"))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limits on this platform")
def test_a_file_that_cannot_grow_is_passing_and_what_was_committed_stays(ledger: Ledger):
    done = subprocess.run(
        [sys.executable, "-c", FULL, ledger.file], check=False, timeout=60, capture_output=True, text=True
    )
    first, second = done.stdout.splitlines()
    assert first.startswith(OutOfSpace.__name__), done.stdout + done.stderr
    assert second == "1 x None"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], check=False, capture_output=True
    )
    if not made or made.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_passing_and_work_goes_on_when_there_is_room(small_disk: Path, empty_ledger: bytes):
    file = small_disk / "ledger.sqlite"
    file.write_bytes(empty_ledger)
    (small_disk / "ballast").write_bytes(b"x" * 100_000)
    ledger = Ledger(file)
    kept = []

    def fill() -> None:
        for n in range(100):
            with ledger.write("big") as transaction:
                facts.state(transaction, f"big{n}", "x" * 20_000)
            kept.append(f"big{n}")

    with pytest.raises(OutOfSpace, match="free some space"):
        fill()
    assert kept
    with ledger.read() as transaction:
        assert [len(facts.read(transaction, key) or "") for key in kept] == [20_000] * len(kept)
        assert facts.read(transaction, f"big{len(kept)}") is None
    (small_disk / "ballast").unlink()
    with ledger.write("big") as transaction:
        facts.state(transaction, "after", "x" * 20_000)
    quick_check(ledger)
    ledger.close()


def test_a_process_killed_within_a_transaction_leaves_the_one_before(ledger: Ledger):
    script = (
        "import sys; from pathlib import Path; from ingestd import failpoints; from ingestd.state import facts; "
        "from ingestd.state.engine import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "with ledger.write('one') as t: facts.state(t, 'key', 'one')\n"
        "failpoints.arm('ledger.two.before')\n"
        "with ledger.write('two') as t: facts.state(t, 'key', 'two')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, ledger.file], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    with ledger.read() as transaction:
        assert facts.read(transaction, "key") == "one"


def test_a_ledger_may_lie_at_an_odd_path(tmp_path: Path, empty_ledger: bytes):
    folder = tmp_path / "a ?#%20\n\udcff é"
    folder.mkdir()
    file = folder / "ledger.sqlite"
    file.write_bytes(empty_ledger)
    ledger = Ledger(file)
    with ledger.write("step") as transaction:
        facts.state(transaction, "key", "value")
    with ledger.read() as transaction:
        assert facts.read(transaction, "key") == "value"
    ledger.close()
