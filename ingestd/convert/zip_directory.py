"""Whether an office file's zip directory promises no bomb and no escape, read without unpacking anything."""

import zipfile
from pathlib import Path, PurePosixPath

from ingestd.errors import CorruptFile, DocumentTooLarge

MAX_MEMBERS = 10_000
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
MAX_RATIO = 200
_RATIO_FROM_BYTES = 16 * 1024 * 1024
"""Members below this may be of any ratio: a sheet of equal cells is, and harms nobody."""


def check_zip_directory(path: Path, name: str) -> None:
    """Refuse a zip file by its central directory alone.

    Raises
    ------
    CorruptFile
        When the directory cannot be read, a member is encrypted, or a name leaves the archive.
    DocumentTooLarge
        When it declares too many members, too many bytes, or a member over the ratio of a bomb.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise CorruptFile(f"{name} is no whole zip archive ({error}): the file is truncated or damaged") from error
    if len(members) > MAX_MEMBERS:
        raise DocumentTooLarge(f"{name} holds {len(members)} members, more than the {MAX_MEMBERS} allowed")
    total = sum(member.file_size for member in members)
    if total > MAX_TOTAL_BYTES:
        raise DocumentTooLarge(f"{name} unpacks to {total} bytes, more than the {MAX_TOTAL_BYTES} allowed")
    for member in members:
        _check_member(member, name)


def _check_member(member: zipfile.ZipInfo, name: str) -> None:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise CorruptFile(f"{name} has a member that leaves the archive: {member.filename!r}")
    if member.flag_bits & 0x1:
        raise CorruptFile(f"{name} has an encrypted member, {member.filename!r}: remove the password")
    if member.file_size > _RATIO_FROM_BYTES and member.file_size > MAX_RATIO * max(member.compress_size, 1):
        raise DocumentTooLarge(
            f"{name}: {member.filename!r} unpacks {member.compress_size} bytes to {member.file_size}, "
            f"over the ratio of {MAX_RATIO} allowed"
        )
