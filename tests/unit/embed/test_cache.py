import hashlib
import json
import logging
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from ingestd.embed import cache_file
from ingestd.embed.cache import VectorCache
from ingestd.model.identity import text_hash

DIMENSION = 16


def hashes(*texts):
    return [text_hash(text) for text in texts]


def unit(rows, dimension=DIMENSION, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "vectors.sqlite"


@pytest.fixture
def cache(file):
    cache = VectorCache(file)
    yield cache
    cache.close()


def events(caplog):
    return [record.getMessage().split()[0] for record in caplog.records if record.levelno >= logging.WARNING]


def test_what_was_put_comes_back_bit_for_bit(cache, file):
    vectors = unit(3)
    cache.put("d", hashes("a", "b", "c"), vectors)
    cache.close()
    again = VectorCache(file)
    positions, found = again.get("d", hashes("c", "unknown", "a"), DIMENSION)
    again.close()
    assert positions.tolist() == [0, 2]
    assert found.tobytes() == vectors[[2, 0]].tobytes()
    assert found.dtype == np.float32


def test_thousands_of_keys_are_found_in_one_call(cache):
    names, vectors = hashes(*map(str, range(3000))), unit(3000)
    cache.put("d", names, vectors)
    positions, found = cache.get("d", names, DIMENSION)
    assert positions.tolist() == list(range(3000))
    assert found.tobytes() == vectors.tobytes()


def test_a_hash_asked_twice_is_found_twice(cache):
    cache.put("d", hashes("a"), unit(1))
    positions, found = cache.get("d", hashes("a", "a"), DIMENSION)
    assert positions.tolist() == [0, 1]
    assert (found[0] == found[1]).all()


def test_another_embedder_has_vectors_of_its_own(cache):
    cache.put("one", hashes("a"), unit(1, seed=1))
    assert cache.get("two", hashes("a"), DIMENSION)[0].size == 0
    cache.put("two", hashes("a"), unit(1, seed=2))
    assert (cache.get("one", hashes("a"), DIMENSION)[1] == unit(1, seed=1)).all()
    assert (cache.get("two", hashes("a"), DIMENSION)[1] == unit(1, seed=2)).all()


def test_a_text_keeps_the_vector_that_it_got_first(cache):
    cache.put("d", hashes("a"), unit(1, seed=1))
    cache.put("d", hashes("a", "b"), unit(2, seed=2))
    assert (cache.get("d", hashes("a", "b"), DIMENSION)[1] == np.stack([unit(1, seed=1)[0], unit(2, seed=2)[1]])).all()


def test_no_keys_and_no_rows_are_no_fault(cache):
    cache.put("d", [], np.empty((0, DIMENSION), np.float32))
    positions, found = cache.get("d", [], DIMENSION)
    assert positions.shape == (0,)
    assert found.shape == (0, DIMENSION)


def test_rows_that_are_no_unit_vectors_are_never_kept(cache):
    vectors = unit(4)
    vectors[1, 3] = np.nan
    vectors[2] *= 2
    cache.put("d", hashes("a", "b", "c", "d"), vectors)
    assert cache.get("d", hashes("a", "b", "c", "d"), DIMENSION)[0].tolist() == [0, 3]


def test_a_vector_of_another_length_is_not_given_out(cache):
    cache.put("d", hashes("a"), unit(1, dimension=8))
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 0


def test_a_damaged_vector_is_not_given_out(cache, file):
    cache.put("d", hashes("a", "b"), unit(2))
    cache.close()
    with sqlite3.connect(file) as other:
        other.execute("UPDATE vector SET numbers = zeroblob(?) WHERE id = 1", (4 * DIMENSION,))
    other.close()
    again = VectorCache(file)
    assert again.get("d", hashes("a", "b"), DIMENSION)[0].tolist() == [1]
    again.close()


def test_the_file_stays_within_its_bound(file):
    limit = 2_000_000
    cache = VectorCache(file, limit)
    for batch in range(40):
        names = hashes(*(f"{batch}-{row}" for row in range(50)))
        cache.put("d", names, unit(50, dimension=384, seed=batch))
        assert cache.size_bytes <= limit
        assert cache.get("d", names, 384)[0].size == 50
    cache.close()
    assert file.stat().st_size <= 1.1 * limit


def test_what_is_read_again_and_again_outlives_what_is_not(file):
    cache = VectorCache(file, 2_000_000)
    wanted = hashes(*(f"wanted-{row}" for row in range(50)))
    cache.put("d", wanted, unit(50, dimension=384))
    for batch in range(60):
        cache.put("d", hashes(*(f"{batch}-{row}" for row in range(50))), unit(50, dimension=384, seed=batch))
        assert cache.get("d", wanted, 384)[0].size == 50
    cache.close()


def test_a_lower_bound_shortens_the_file_at_the_next_opening(file):
    cache = VectorCache(file)
    cache.put("d", hashes(*map(str, range(3000))), unit(3000, dimension=384))
    cache.close()
    cache = VectorCache(file, 1_000_000)
    cache.close()
    assert file.stat().st_size <= 1_000_000


def test_a_single_put_over_the_bound_keeps_some(file):
    cache = VectorCache(file, 500_000)
    cache.put("d", hashes(*map(str, range(2000))), unit(2000, dimension=384))
    assert 0 < cache.size_bytes <= 500_000
    cache.close()


def test_a_file_of_another_version_is_started_again(cache, file, caplog):
    cache.put("d", hashes("a"), unit(1))
    cache.close()
    with sqlite3.connect(file) as other:
        other.execute(f"PRAGMA user_version = {cache_file.VERSION + 1}")
    other.close()
    again = VectorCache(file)
    assert again.get("d", hashes("a"), DIMENSION)[0].size == 0
    again.put("d", hashes("a"), unit(1))
    assert again.get("d", hashes("a"), DIMENSION)[0].size == 1
    again.close()
    assert list(file.parent.iterdir()) == [file]
    assert "vectors.restarted" in caplog.text


def test_a_file_that_is_no_database_is_moved_aside(file, caplog):
    file.write_bytes(b"someone's notes\n" * 1000)
    cache = VectorCache(file)
    cache.put("d", hashes("a"), unit(1))
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 1
    cache.close()
    assert (file.parent / "vectors.sqlite.aside").read_bytes().startswith(b"someone's notes")
    assert "vectors.restarted" in caplog.text


def test_a_database_of_someone_else_is_moved_aside(file):
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE theirs (word)")
        other.execute("INSERT INTO theirs VALUES ('kept')")
    other.close()
    cache = VectorCache(file)
    cache.put("d", hashes("a"), unit(1))
    cache.close()
    with sqlite3.connect(file.parent / "vectors.sqlite.aside") as other:
        assert other.execute("SELECT word FROM theirs").fetchall() == [("kept",)]
    other.close()


def test_a_corrupt_file_is_started_again_when_it_is_noticed(cache, file, caplog):
    names = hashes(*map(str, range(400)))
    cache.put("d", names, unit(400, dimension=384))
    cache.close()
    with file.open("r+b") as stream:
        stream.seek(16 * 1024)
        stream.write(b"\xff" * (file.stat().st_size - 16 * 1024))
    again = VectorCache(file)
    again.get("d", names, 384)
    again.put("d", names[:5], unit(5, dimension=384))
    assert again.get("d", names[:5], 384)[0].size == 5
    again.close()
    assert "vectors.restarted" in caplog.text


def test_a_full_disk_costs_a_warning_and_reading_goes_on(cache, caplog):
    cache.put("d", hashes("a"), unit(1))
    pages = cache._database.execute("PRAGMA page_count").fetchone()[0]
    cache._database.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(3):
        cache.put("d", hashes(*(f"{number}-{row}" for row in range(500))), unit(500))
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 1
    assert events(caplog) == ["vectors.not_cached"]
    cache._database.execute("PRAGMA max_page_count = 100000")
    cache.put("d", hashes("b"), unit(1))
    assert cache.get("d", hashes("b"), DIMENSION)[0].size == 1


def test_a_place_where_no_file_can_be_made_costs_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "vectors.sqlite")
    cache.put("d", hashes("a"), unit(1))
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 0
    assert cache.size_bytes == 0
    cache.close()
    assert events(caplog) == ["vectors.not_cached"]


def test_a_folder_that_is_not_there_is_no_reason_to_fail(tmp_path):
    cache = VectorCache(tmp_path / "missing" / "vectors.sqlite")
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 0
    cache.close()


def test_a_file_deleted_while_nothing_runs_is_made_again(cache, file):
    cache.put("d", hashes("a"), unit(1))
    cache.close()
    file.unlink()
    again = VectorCache(file)
    assert again.get("d", hashes("a"), DIMENSION)[0].size == 0
    again.close()


def test_a_closed_cache_knows_and_keeps_nothing(cache):
    cache.put("d", hashes("a"), unit(1))
    cache.close()
    cache.put("d", hashes("b"), unit(1))
    assert cache.get("d", hashes("a"), DIMENSION)[0].size == 0
    cache.close()


KILLED = """
import json, sys
import numpy as np
from pathlib import Path
from ingestd import failpoints
from ingestd.embed.cache import VectorCache
failpoints.arm(sys.argv[2])
cache = VectorCache(Path(sys.argv[1]))
vectors = np.eye(16, dtype=np.float32)
for row in range(4):
    cache.put("d", [json.loads(sys.argv[3])[row]], vectors[row : row + 1])
"""


@pytest.mark.parametrize(("name", "kept"), [("embed.cache_put:3", 2), ("embed.cached:3", 3)])
def test_a_kill_while_putting_loses_nothing_that_was_put(file, name, kept):
    names = [hashlib.sha256(bytes([row])).hexdigest() for row in range(4)]
    done = subprocess.run([sys.executable, "-c", KILLED, file, name, json.dumps(names)], check=False)
    assert done.returncode == -9
    cache = VectorCache(file)
    positions, found = cache.get("d", names, 16)
    cache.close()
    assert positions.tolist() == list(range(kept))
    assert (found == np.eye(16, dtype=np.float32)[:kept]).all()
