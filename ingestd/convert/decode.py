"""Text from the bytes of a file, in whatever encoding they are."""

import codecs
import re
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESS_BYTES = 256 * 1024
"""The encoding is guessed from this much: the guess costs about a second a megabyte."""
_FEWEST_BYTES_TO_GUESS = 8
"""Below so many bytes outside ASCII every guess is as good as the commonest encoding."""
_CANDIDATES = (
    *(f"cp125{digit}" for digit in range(9)),
    *("koi8_r", "koi8_u", "shift_jis", "euc_jp", "iso2022_jp", "gb18030", "big5", "euc_kr", "cp874", "mac_roman"),
)
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text, without its byte order mark."""

    text: str
    """Line ends as in the file; one U+FFFD for each character that :func:`clean` takes out."""
    encoding: str
    """Python's name of the encoding."""
    replaced: int
    """How many characters are U+FFFD in place of bytes or characters that are no text."""


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decode by byte order mark, else as UTF-8, else as declared, else as charset-normalizer finds.

    Bytes that the encoding has no character for become U+FFFD: never an error, never a lost remainder.

    Parameters
    ----------
    data
        The whole file.
    declared
        Encoding that the file states for itself; believed only when it can be true.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded(data, _believed(data, declared) or _guessed(data))
    return _cleaned(text, "utf-8", already=0)


def clean(text: str) -> str:
    """Replace NUL, C0 controls except tab, LF and CR, DEL and lone surrogates by U+FFFD, one for one.

    A form feed becomes a line feed: it ends a page, and so a line.
    """
    return _UNWANTED.sub("\ufffd", text.replace("\f", "\n"))


def _believed(data: bytes, declared: str) -> str:
    """Python's name of the declared encoding, when every byte agrees with it."""
    try:
        encoding = codecs.lookup(declared).name if declared else ""
        if encoding:
            data.decode(encoding)
    except (LookupError, ValueError):
        return ""
    # Pages that say Latin-1 mean Windows-1252, as browsers read them.
    return "cp1252" if encoding in ("iso8859-1", "ascii") else encoding


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    return _cleaned(text, encoding, already=text.count("\ufffd"))


def _cleaned(text: str, encoding: str, *, already: int) -> Decoded:
    cleaned = clean(text)
    unwanted = cleaned.count("\ufffd") - text.count("\ufffd")
    return Decoded(text=cleaned, encoding=encoding, replaced=already + unwanted)


def _guessed(data: bytes) -> str:
    sample = data[:_GUESS_BYTES]
    foreign = sum(byte >= 0x80 for byte in sample)
    as_utf8 = sample.decode("utf-8", "replace")
    damaged = as_utf8.count("\ufffd")
    # A file that is UTF-8 but for a few damaged bytes reads best as UTF-8.
    if len(as_utf8) - (len(sample) - foreign) > 3 * damaged:
        return "utf-8"
    if foreign < _FEWEST_BYTES_TO_GUESS:
        return "cp1252"
    # Here: most files are UTF-8, and many commands decode none.
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_CANDIDATES)).best()
    return best.encoding if best is not None else "cp1252"
