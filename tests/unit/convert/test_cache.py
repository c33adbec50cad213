import json
import os
import zlib
from pathlib import Path

import pytest

from ingestd.convert import ConversionCache
from ingestd.errors import OutOfSpace
from ingestd.model.document import Block, BlockType, Document, document_as_json
from ingestd.model.identity import Digest, Fingerprint

DIGEST = Digest("d" * 64)


def fingerprint(number: int) -> Fingerprint:
    return Fingerprint(f"{number:064x}")


def document(text: str) -> Document:
    block = Block(type=BlockType.PARAGRAPH, text=text, start=0, end=len(text), page=3, bbox=(1.0, 2.0, 3.0, 4.5))
    return Document(
        title="Tïtle",
        markdown=text,
        blocks=(block,),
        meta={"a": [1, None, "ü"]},
        page_count=4,
        converter="x/1",
        provenance={"x": "1"},
    )


def entries(directory: Path) -> list[Path]:
    return sorted(directory.glob("??/*"))


def test_what_was_put_is_got_back_equal(tmp_path: Path) -> None:
    cache = ConversionCache(tmp_path, 1 << 20)
    assert cache.get(fingerprint(1), DIGEST) is None
    cache.put(fingerprint(1), DIGEST, document("héllo\r\n😀"))
    assert cache.get(fingerprint(1), DIGEST) == document("héllo\r\n😀")
    assert cache.get(fingerprint(1), Digest("e" * 64)) is None
    assert ConversionCache(tmp_path, 1 << 20).get(fingerprint(1), DIGEST) == document("héllo\r\n😀")


def test_blocks_whose_text_stands_in_the_markdown_and_blocks_whose_text_does_not_come_back_equal(
    tmp_path: Path,
) -> None:
    whole = "# Über\n\nText *with* marks.\n\n" + "| a |\n" * 300
    blocks = (
        Block(type=BlockType.SECTION, text="Über", start=0, end=6, level=1),
        Block(type=BlockType.PARAGRAPH, text="Text with marks.", start=8, end=26),
        Block(type=BlockType.TABLE, text=whole[28:], start=28, end=len(whole)),
        Block(type=BlockType.FURNITURE, text="", start=len(whole), end=len(whole)),
    )
    made = Document(title="t", markdown=whole, blocks=blocks, converter="x/1")
    cache = ConversionCache(tmp_path, 1 << 20)
    cache.put(fingerprint(1), DIGEST, made)
    assert cache.get(fingerprint(1), DIGEST) == made


def test_an_entry_that_holds_every_text_twice_is_read_as_well(tmp_path: Path) -> None:
    cache = ConversionCache(tmp_path, 1 << 20)
    cache.put(fingerprint(1), DIGEST, document("a"))
    (entry,) = entries(tmp_path)
    entry.write_bytes(zlib.compress(json.dumps(document_as_json(document("an older entry"))).encode()))
    assert cache.get(fingerprint(1), DIGEST) == document("an older entry")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"x\x9c\x03\x00\x00\x00\x00\x01",
        *(
            zlib.compress(text)
            for text in (b"{}", b"[]", b'{"blocks": [[]]}', b'{"markdown": 1, "blocks": [[1, null]]}')
        ),
    ],
)
def test_a_corrupt_entry_is_a_miss_and_is_removed(tmp_path: Path, content: bytes) -> None:
    cache = ConversionCache(tmp_path, 1 << 20)
    cache.put(fingerprint(1), DIGEST, document("a"))
    (entry,) = entries(tmp_path)
    entry.write_bytes(content)
    assert cache.get(fingerprint(1), DIGEST) is None
    assert entries(tmp_path) == []


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = ConversionCache(tmp_path, 1 << 30)
    for number in range(3):
        cache.put(fingerprint(number), DIGEST, document(os.urandom(2000).hex()))
    for age, entry in enumerate(entries(tmp_path)):
        os.utime(entry, (1000 + age, 1000 + age))
    cache.get(fingerprint(0), DIGEST)
    held = sum(entry.stat().st_size for entry in entries(tmp_path))
    small = ConversionCache(tmp_path, int(held * 1.2))
    small.put(fingerprint(3), DIGEST, document(os.urandom(2000).hex()))
    assert small.get(fingerprint(0), DIGEST) is not None
    assert small.get(fingerprint(1), DIGEST) is None
    assert small.get(fingerprint(3), DIGEST) is not None


def test_a_result_that_serves_two_conversions_lies_on_the_disk_once(tmp_path: Path) -> None:
    other = Digest("e" * 64)
    cache = ConversionCache(tmp_path, 1 << 30)
    cache.share(fingerprint(0), DIGEST, other)
    assert cache.get(fingerprint(0), other) is None
    for number in range(2):
        cache.put(fingerprint(number), DIGEST, document(os.urandom(2000).hex()))
        cache.share(fingerprint(number), DIGEST, other)
        cache.share(fingerprint(number), DIGEST, other)
    assert cache.get(fingerprint(0), other) == cache.get(fingerprint(0), DIGEST)
    once = sum(entry.stat().st_size for entry in entries(tmp_path)) // 2
    # Counted once, both fit with a third; counted twice they would have to go.
    bounded = ConversionCache(tmp_path, int(once * 1.7))
    bounded.put(fingerprint(2), DIGEST, document(os.urandom(2000).hex()))
    assert all(bounded.has(fingerprint(number), digest) for number in range(2) for digest in (DIGEST, other))


def test_pinned_entries_are_never_evicted(tmp_path: Path) -> None:
    cache = ConversionCache(tmp_path, 1, pinned=lambda mark, digest: mark == fingerprint(1) and digest == DIGEST)
    for number in range(4):
        cache.put(fingerprint(number), DIGEST, document("text"))
    assert cache.get(fingerprint(1), DIGEST) == document("text")
    assert len(entries(tmp_path)) <= 2


def test_the_folder_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    cache = ConversionCache(directory, 1 << 20)
    cache.put(fingerprint(1), DIGEST, document("a"))
    for entry in entries(directory):
        entry.unlink()
    assert cache.get(fingerprint(1), DIGEST) is None
    cache.put(fingerprint(1), DIGEST, document("b"))
    assert cache.get(fingerprint(1), DIGEST) == document("b")


def test_files_that_a_dead_process_left_aside_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "aa" / "999999999-1.aside"
    left.parent.mkdir()
    left.write_bytes(b"half")
    ConversionCache(tmp_path, 1 << 20).put(fingerprint(1), DIGEST, document("a"))
    assert not left.exists()


def test_a_disk_that_cannot_be_written_is_transient_and_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "00").write_text("a file where a folder should be")
    with pytest.raises(OutOfSpace, match=str(tmp_path / "00")):
        ConversionCache(tmp_path, 1 << 20).put(fingerprint(1), DIGEST, document("a"))
