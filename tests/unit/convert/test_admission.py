import io
import zipfile
from pathlib import Path

import pytest

from ingestd.convert import ConvertOptions, zip_directory
from ingestd.convert.admission import admit, admit_size
from ingestd.convert.types import DOCX, HTML, MARKDOWN, PDF
from ingestd.errors import CorruptFile, DocumentTooLarge, FileEmpty, FileTooLarge

OPTIONS = ConvertOptions()


def admit_bytes(tmp_path: Path, data: bytes, mime: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    admit(file=path, mime=mime, size=len(data), name="file", options=OPTIONS)


def zipped(*members: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(FileEmpty, match="0 bytes"):
        admit_size(mime=PDF, size=0, name="a.pdf", options=OPTIONS)


@pytest.mark.parametrize(("mime", "size"), [(MARKDOWN, 20 << 20), (DOCX, 100 << 20), (PDF, 500 << 20)])
def test_each_type_has_its_own_size_limit(mime: str, size: int) -> None:
    admit_size(mime=mime, size=size, name="a", options=OPTIONS)
    with pytest.raises(FileTooLarge, match=str(size)):
        admit_size(mime=mime, size=size + 1, name="a", options=OPTIONS)


def test_a_line_of_200_mb_is_refused_by_size_without_reading_it() -> None:
    with pytest.raises(FileTooLarge):
        admit(file=Path("/nonexistent"), mime=MARKDOWN, size=200 << 20, name="a.md", options=OPTIONS)


def test_an_honest_office_file_is_admitted(tmp_path: Path) -> None:
    admit_bytes(tmp_path, zipped(("word/document.xml", b"x" * 1000)), DOCX)


def test_a_truncated_zip_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="truncated"):
        admit_bytes(tmp_path, zipped(("a", b"x" * 1000))[:-30], DOCX)


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../b", "a\\..\\b"])
def test_members_that_leave_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorruptFile, match="leaves the archive"):
        admit_bytes(tmp_path, zipped((name, b"x")), DOCX)


def test_a_bomb_is_told_by_its_ratio(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLarge, match="ratio"):
        admit_bytes(tmp_path, zipped(("word/document.xml", bytes(20 << 20))), DOCX)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    members = [(str(number), b"") for number in range(zip_directory.MAX_MEMBERS + 1)]
    with pytest.raises(DocumentTooLarge, match="10001 members"):
        admit_bytes(tmp_path, zipped(*members), DOCX)


def test_deeply_nested_html_is_refused_before_any_parser(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLarge, match="1000 deep"):
        admit_bytes(tmp_path, b"<div class=x>" * 1001, HTML)


def test_elements_without_end_tags_are_no_nesting(tmp_path: Path) -> None:
    admit_bytes(tmp_path, b"<div><p>a<li>b<tr><td></div>" * 5000, HTML)


def test_the_deadline_grows_with_the_pages_up_to_its_bound() -> None:
    assert OPTIONS.deadline_seconds(0) == 60
    assert OPTIONS.deadline_seconds(10) == 80
    assert OPTIONS.deadline_seconds(100_000) == 900
    assert ConvertOptions(timeout_seconds=1200).deadline_seconds(5) == 1200


def test_pages_that_are_read_from_pictures_have_a_time_of_their_own_beyond_that_bound() -> None:
    assert OPTIONS.deadline_seconds(10, 3) == OPTIONS.deadline_seconds(10) + 180
    assert OPTIONS.deadline_seconds(5_000, 300) == OPTIONS.longest_seconds + 300 * 60
