"""Which engine reads pictures of pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd_adapters import ocr_rapid, ocr_tesseract
from ingestd_adapters.ocr_engine import OcrEngine
from ingestd_adapters.ocr_weights import INSTALL

_ENGINES: Mapping[str, Callable[[Sequence[str]], OcrEngine]] = {
    ocr_rapid.NAME: ocr_rapid.rapidocr,
    ocr_tesseract.NAME: ocr_tesseract.tesseract,
}
"""In the order of preference."""
MODES = ("auto", "off", "on", *_ENGINES)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOcr:
    """Pictures of pages are not read."""

    why: str
    """What it is, with the way out."""


def chosen(mode: str, languages: Sequence[str]) -> OcrEngine | NoOcr:
    """Engine of a mode.

    Parameters
    ----------
    mode
        ``off``; the name of an engine; ``on`` for the first that is installed; ``auto`` for the same, or for none.
    languages
        Of the texts, as tesseract calls them; empty leaves it to the engine.

    Raises
    ------
    AdapterUnavailable
        When an engine is asked for and cannot be had.
    ConfigurationError
        When nothing is called so, or the engine that is asked for cannot read one of the languages.
    """
    if mode not in MODES:
        raise ConfigurationError(f"converter.ocr = {mode!r} is none of {', '.join(MODES)}")
    if mode == "off":
        return NoOcr(why='OCR is off: set converter.ocr = "auto"')
    if mode in _ENGINES:
        return _ENGINES[mode](languages)
    reasons: list[str] = []
    for make in _ENGINES.values():
        try:
            return make(languages)
        except (AdapterUnavailable, ConfigurationError) as error:
            reasons.append(str(error))
    if mode == "on":
        raise AdapterUnavailable(f'converter.ocr = "on", and no engine can be had: {"; ".join(reasons)}')
    why = "; ".join(reasons) if languages else f"no OCR engine is installed: {INSTALL}"
    return NoOcr(why=why)
