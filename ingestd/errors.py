"""The tree of everything that ingestd raises on purpose.

::

    IngestdError
    ├── ConfigurationError            the settings or the command line are wrong (exit 2)
    ├── StateLocked                   another process owns the state (exit 75)
    ├── StateUnusable                 the ledger is corrupt, newer than this program, or on a bad file system
    ├── AdapterUnavailable            an engine is not installed; names the extra to install
    ├── StoreMismatch                 a collection is claimed by another, or has another vector space
    ├── TransientError                tried again after ``delay_seconds``
    │   ├── StoreUnavailable          the store does not answer (exit 75 for one-shot commands)
    │   ├── EmbedderUnavailable       the embedder's process died or is being replaced
    │   ├── FileStillChanging         the file changed while it was read
    │   ├── SourceGone                the file is no longer there
    │   └── OutOfSpace                a disk is full
    └── PermanentError                the source is quarantined until it or the recipe changes
        ├── FileUnreadable            no permission, or an input/output error
        ├── FileEmpty                 nothing in it
        ├── FileTooLarge              over the admission limit of its type
        ├── NotARegularFile           FIFO, socket, device, or a link that leaves the root
        ├── UnsupportedType           no installed converter takes this type
        ├── ContentMismatch           the bytes are not what the name promises (binary as text, …)
        ├── CorruptFile               the engine cannot read it
        ├── PdfEncrypted              a password is needed
        ├── NeedsOcr                  pages without a text layer, and OCR is off
        ├── IncompleteConversion      the converter returned too little of what the file holds
        ├── ConversionTimeout         over the deadline; the child was killed
        ├── ConversionMemory          over the memory limit; the child was killed
        ├── ConversionCrashed         the child died
        ├── DocumentTooLarge          the converted document is over the caps
        ├── NotChunkable              the rules of the profile "compat" cannot cut the document for the embedder
        └── BadVectors                the embedder returned vectors that are not finite, or of the wrong shape

Anything else that escapes is a bug: logged with its traceback, counted, tried a few times, then quarantined.
"""


class IngestdError(Exception):
    """Root of the tree."""


class ConfigurationError(IngestdError):
    """Settings or command line are wrong; the message lists every finding with its place and the way out."""


class StateLocked(IngestdError):
    """Another process owns the state directory."""


class StateUnusable(IngestdError):
    """The ledger cannot be used as it is: corrupt, of a newer schema, or on a file system without locks."""


class AdapterUnavailable(IngestdError):
    """An engine is not installed; the message names the extra to install."""


class StoreMismatch(IngestdError):
    """A collection belongs to someone else, or holds another vector space."""


class TransientError(IngestdError):
    """Something that may work later.

    Parameters
    ----------
    message
        What failed, and what would help.
    delay_seconds
        Earliest time to try again; ``None`` leaves it to the back-off.
    """

    def __init__(self, message: str, *, delay_seconds: float | None = None) -> None:
        super().__init__(message)
        self.delay_seconds = delay_seconds


class StoreUnavailable(TransientError):
    """The store does not answer, or answered that it cannot serve now."""


class EmbedderUnavailable(TransientError):
    """The embedder's process died, or cannot be started now."""


class FileStillChanging(TransientError):
    """The file changed while it was being read."""


class SourceGone(TransientError):
    """The file is no longer at its path; the next look at its directory says what became of it."""


class OutOfSpace(TransientError):
    """A disk is full."""


class PermanentError(IngestdError):
    """The source fails for good: it waits in quarantine until the file or the recipe changes, or someone retries it."""


class FileUnreadable(PermanentError):
    """No permission to read the file, or the disk reported an error."""


class FileEmpty(PermanentError):
    """The file, or the document made from it, holds nothing to index."""


class FileTooLarge(PermanentError):
    """The file is over the admission limit of its type."""


class NotARegularFile(PermanentError):
    """A FIFO, socket or device, or a path that leaves its root through a link."""


class UnsupportedType(PermanentError):
    """No installed converter takes this type."""


class ContentMismatch(PermanentError):
    """The bytes are not what the file's name promises."""


class CorruptFile(PermanentError):
    """The converter's engine cannot read the file."""


class PdfEncrypted(PermanentError):
    """The PDF needs a password."""


class NeedsOcr(PermanentError):
    """The pages hold pictures of text, and OCR is off."""


class IncompleteConversion(PermanentError):
    """The converter returned materially less than the file holds."""


class ConversionTimeout(PermanentError):
    """The conversion was over its deadline and its process was killed."""


class ConversionMemory(PermanentError):
    """The conversion was over its memory limit and its process was killed."""


class ConversionCrashed(PermanentError):
    """The converter's process died while it had the file."""


class DocumentTooLarge(PermanentError):
    """The converted document is over the caps on text or blocks."""


class NotChunkable(PermanentError):
    """The profile ``compat``, which reproduces rules without a limit in tokens, makes chunks too large, or none."""


class BadVectors(PermanentError):
    """The embedder returned vectors of a wrong shape, not finite, or without length.

    Parameters
    ----------
    message
        Which text, and what was wrong with its vector.
    rows
        Positions of the texts concerned in what was to be embedded; the vectors of all others were made.
    """

    def __init__(self, message: str, *, rows: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.rows = rows
