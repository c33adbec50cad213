"""What the exit status says, as the contract fixes it."""

from enum import IntEnum

from ingestd import errors


class ExitCode(IntEnum):
    """Exit status of every command."""

    DONE = 0
    AMISS = 1
    """Done, but some sources failed, some removals are held, or a check found something."""
    USAGE = 2
    """The configuration or the command line is wrong, or an installation is incomplete."""
    BUG = 3
    LATER = 75
    """Try again later: the store does not answer, or the state is locked."""
    INTERRUPTED = 130


_CODES: tuple[tuple[type[errors.IngestdError], ExitCode], ...] = (
    (errors.ConfigurationError, ExitCode.USAGE),
    (errors.AdapterUnavailable, ExitCode.USAGE),
    (errors.StoreMismatch, ExitCode.USAGE),
    (errors.StateUnusable, ExitCode.USAGE),
    (errors.PermanentError, ExitCode.AMISS),
)


def exit_code_of(error: errors.IngestdError) -> ExitCode:
    """Exit status for an error that ended a command; what is not listed is a process or a lock that was in the way."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.LATER)
