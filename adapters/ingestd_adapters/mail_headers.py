"""Who wrote a mail to whom, when and about what."""

from email import policy
from email.parser import BytesHeaderParser
from pathlib import Path

_HEAD_BYTES = 256 * 1024
_KEYS = {"from": "authors", "to": "to", "cc": "cc", "date": "date", "subject": "title", "message-id": "message_id"}


def mail_headers(path: Path) -> dict[str, str]:
    """The headers that have a value, of the first 256 KiB."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    try:
        message = BytesHeaderParser(policy=policy.default).parsebytes(head)
        return {ours: " ".join(str(message[name]).split())[:4096] for name, ours in _KEYS.items() if message[name]}
    except (ValueError, LookupError, IndexError, AttributeError):
        # The header parser of the standard library trips over some malformed addresses.
        return {}
