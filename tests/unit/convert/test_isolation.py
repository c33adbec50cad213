"""Whatever a converter does, the owner goes on."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingestd.convert.confinement import address_space_bytes
from ingestd.errors import (
    AdapterUnavailable,
    ConfigurationError,
    ConversionCrashed,
    ConversionMemory,
    ConversionTimeout,
    DocumentTooLarge,
    FileEmpty,
    TransientError,
)

pytestmark = pytest.mark.usefixtures("hostile")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the limit exists on Linux alone")


def order(word: str, salt: str = "") -> bytes:
    return f"%PDF-1 {word} {salt}".encode()


def test_a_converter_that_hangs_is_killed_at_its_deadline_and_the_next_file_is_converted(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile", timeout_seconds=1.0)
    workshop.run(conversions, "a.pdf", order("pid"))
    with pytest.raises(ConversionTimeout, match=r"bad\.pdf.*hostile.*1 s"):
        workshop.run(conversions, "bad.pdf", order("hang"))
    assert workshop.run(conversions, "b.pdf", order("pid", "again")).document.markdown.isdigit()


def test_a_converter_that_dies_by_a_signal_is_said_to_have_crashed(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    with pytest.raises(ConversionCrashed, match="SIGSEGV"):
        workshop.run(conversions, "bad.pdf", order("abort"))
    assert workshop.run(conversions, "b.pdf", order("pid")).document.markdown.isdigit()


def test_a_converter_that_leaves_is_said_to_have_crashed(workshop) -> None:
    with pytest.raises(ConversionCrashed, match="exit status 3"):
        workshop.run(workshop.conversions(pdf="hostile"), "bad.pdf", order("leave"))


@linux_only
def test_a_converter_over_its_memory_is_told_apart_from_a_crash(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile", memory_bytes=600 << 20)
    with pytest.raises(ConversionMemory, match="memory"):
        workshop.run(conversions, "bad.pdf", order("hoard_memory"))
    assert workshop.run(conversions, "b.pdf", order("pid")).document.markdown.isdigit()


@linux_only
def test_a_converter_has_no_network(workshop) -> None:
    assert workshop.document("a.pdf", order("connect"), pdf="hostile").markdown == "denied 1"


def test_a_converter_runs_niced_without_core_dumps_and_with_few_files(workshop) -> None:
    niceness = min(os.nice(0) + 10, 19)
    assert workshop.document("a.pdf", order("limits"), pdf="hostile").markdown == f"0 256 {niceness}"


def test_the_private_folder_is_emptied_after_each_document_and_goes_with_the_process(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    private = Path(workshop.run(conversions, "a.pdf", order("litter")).document.markdown)
    assert list(private.iterdir()) == []
    conversions.close()
    assert not private.exists()


def test_folders_of_a_dead_owner_are_swept(workshop) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left = workshop.folder / "cache" / "scratch" / f"{int(dead.stdout)}-left"
    left.mkdir(parents=True)
    ours = left.with_name(f"{os.getpid()}-ours")
    ours.mkdir()
    workshop.conversions()
    assert not left.exists()
    assert ours.exists()


def test_a_process_is_kept_warm_until_it_has_served_long_enough(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile", workers_recycled_after=2)
    pids = [workshop.run(conversions, "a.pdf", order("pid", str(n))).document.markdown for n in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


@linux_only
def test_a_process_that_has_grown_is_replaced(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    first = workshop.run(conversions, "a.pdf", order("grow")).document.markdown
    assert workshop.run(conversions, "b.pdf", order("pid")).document.markdown != first


@linux_only
def test_a_process_that_has_loaded_an_engine_meanwhile_is_kept_until_it_grows_beyond_that(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    orders = ("load_more", "pid 1", "grow 1", "grow 2", "pid 2")
    loaded, same, grown, doubled, other = (
        workshop.run(conversions, "a.pdf", order(one)).document.markdown for one in orders
    )
    # 300 MB more are no more than twice what it had with its engine.
    assert loaded == same == grown == doubled != other


def test_too_many_blocks_are_refused_in_the_child(workshop) -> None:
    with pytest.raises(DocumentTooLarge, match="50001 blocks"):
        workshop.document("a.pdf", order("many_blocks"), pdf="hostile")


def test_an_empty_success_is_no_success(workshop) -> None:
    with pytest.raises(FileEmpty, match=r"a\.pdf holds no text"):
        workshop.document("a.pdf", order("empty"), pdf="hostile")


def test_a_bug_of_an_adapter_takes_its_process_down_and_nothing_else(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    with pytest.raises(ConversionCrashed):
        workshop.run(conversions, "a.pdf", order("bug"))
    assert workshop.run(conversions, "b.pdf", order("pid")).document.markdown.isdigit()


def test_closing_ends_a_conversion_in_hand_as_transient_and_promptly(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(workshop.run, conversions, "bad.pdf", order("hang"))
        deadline = time.monotonic() + 60
        while not (pool := conversions._pools.get("hostile")) or not pool._busy:
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)
        conversions.close()
        with pytest.raises(TransientError):
            hanging.result(timeout=60)
    with pytest.raises(TransientError):
        workshop.run(conversions, "b.pdf", order("pid"))


def test_conversions_from_many_threads_each_get_their_own_document(workshop) -> None:
    conversions = workshop.conversions(pdf="hostile")
    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(lambda n: workshop.run(conversions, f"{n}.pdf", order("pid", str(n))), range(24)))
    assert len({each.document.markdown for each in done}) <= 2


def test_a_converter_that_is_not_registered_is_named(workshop) -> None:
    with pytest.raises(ConfigurationError, match="no converter is called 'fancy'"):
        workshop.conversions(pdf="fancy").stage_for("application/pdf")


def test_a_converter_that_does_not_start_is_no_fault_of_the_file(workshop, monkeypatch) -> None:
    conversions = workshop.conversions(pdf="hostile")
    conversions.stage_for("application/pdf")
    broken = workshop.folder / "broken"
    broken.mkdir()
    (broken / "hostile_adapter.py").write_text("raise SystemExit(1)")
    monkeypatch.setenv("PYTHONPATH", f"{broken}{os.pathsep}{os.environ['PYTHONPATH']}")
    with pytest.raises(AdapterUnavailable, match="hostile converter does not start"):
        workshop.run(conversions, "a.pdf", order("pid"))


@linux_only
def test_the_address_space_of_a_process_that_is_gone_is_unknown() -> None:
    assert address_space_bytes(os.getpid()) > 0
    assert address_space_bytes(2**22 + 1) == 0


def test_closing_does_not_wait_for_a_converter_that_is_still_loading(workshop, monkeypatch) -> None:
    conversions = workshop.conversions(pdf="hostile")
    conversions.stage_for("application/pdf")
    slow = workshop.folder / "slow"
    slow.mkdir()
    (slow / "hostile_adapter.py").write_text("import threading\nthreading.Event().wait()")
    monkeypatch.setenv("PYTHONPATH", f"{slow}{os.pathsep}{os.environ['PYTHONPATH']}")
    with ThreadPoolExecutor(1) as threads:
        loading = threads.submit(workshop.run, conversions, "a.pdf", order("pid"))
        deadline = time.monotonic() + 60
        while not (pool := conversions._pools.get("hostile")) or not pool._busy:
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)
        conversions.close()
        with pytest.raises(TransientError, match="being stopped"):
            loading.result(timeout=60)
