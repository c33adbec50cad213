"""The files of a state directory, opened by their owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from ingestd.errors import ConfigurationError, StateUnusable
from ingestd.model.identity import Instance
from ingestd.state import facts
from ingestd.state.engine import Ledger
from ingestd.state.schema import is_current, is_empty, migrate, quick_check

_CONFIGURATION = "configuration"
_INSTANCE = "instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Paths below a state directory."""

    directory: Path

    @property
    def ledger(self) -> Path:
        """SQLite file of the ledger."""
        return self.directory / "ledger.sqlite"

    @property
    def store(self) -> Path:
        """Directory of the embedded store."""
        return self.directory / "store"

    @property
    def conversions(self) -> Path:
        """Directory of converted documents; safe to delete."""
        return self.directory / "cache" / "conversions"

    @property
    def vectors(self) -> Path:
        """File of cached vectors; safe to delete."""
        return self.directory / "cache" / "vectors.sqlite"

    @property
    def staging(self) -> Path:
        """Directory of private copies, emptied at every start."""
        return self.directory / "staging"

    @property
    def identity(self) -> Path:
        """File with the random id of this state: it outlives the ledger."""
        return self.directory / "identity"


def open_ledger(places: Places, *, instance: Instance, configuration: Path | None) -> Ledger:
    """Ledger of the state, migrated and checked; the owner's lock must be held.

    Raises
    ------
    ConfigurationError
        When the state belongs to another configuration or instance.
    StateUnusable
        When the file is damaged, or newer than this program.
    """
    places.staging.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left_over in places.staging.iterdir():
        left_over.unlink(missing_ok=True)
    ledger = Ledger(places.ledger)
    try:
        migrate(ledger)
        _check_belonging(ledger, places, instance, configuration)
    except BaseException:
        ledger.close()
        raise
    return ledger


def check_structure(ledger: Ledger) -> None:
    """Check the file after a stop that was not clean."""
    quick_check(ledger)


def state_id(places: Places) -> str:
    """Random id of the state directory, made at its first use."""
    try:
        return places.identity.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        aside = places.identity.with_suffix(".new")
        aside.write_text(token_hex(8) + "\n", encoding="ascii")
        aside.replace(places.identity)
        return places.identity.read_text(encoding="ascii").strip()


def is_readable(ledger: Ledger, directory: Path, belonging: Mapping[str, str]) -> bool:
    """Whether there is something to read in the ledger of an owner that does not run; it is not written to.

    Parameters
    ----------
    belonging
        What the state must belong to, as :func:`open_ledger` recorded it.

    Raises
    ------
    StateUnusable
        When another version of the program wrote it.
    ConfigurationError
        When the state belongs to another configuration or instance.
    """
    if not is_current(ledger):
        if is_empty(ledger):
            return False
        raise StateUnusable(
            f"the ledger {ledger.file} was written by another version of ingestd: `ingestd sync` brings an older one up "
            "to date, a newer one is read by the version that wrote it"
        )
    _refuse_another(_belonging(ledger, belonging), directory, belonging)
    return True


def belonging_to(*, configuration: Path | None, instance: str | None = None) -> dict[str, str]:
    """What a state belongs to, under the names that the ledger records it by."""
    named = {} if instance is None else {_INSTANCE: instance}
    return {_CONFIGURATION: str(configuration or ""), **named}


def _check_belonging(ledger: Ledger, places: Places, instance: Instance, configuration: Path | None) -> None:
    mine = belonging_to(configuration=configuration, instance=instance)
    found = _belonging(ledger, mine)
    missing = {key: value for key, value in mine.items() if found[key] is None}
    if missing:
        with ledger.write("belonging") as transaction:
            for key, value in missing.items():
                facts.state(transaction, key, value)
    _refuse_another(found, places.directory, mine)


def _belonging(ledger: Ledger, mine: Mapping[str, str]) -> dict[str, str | None]:
    with ledger.read() as transaction:
        return {key: facts.read(transaction, key) for key in mine}


def _refuse_another(found: Mapping[str, str | None], directory: Path, mine: Mapping[str, str]) -> None:
    for key, value in mine.items():
        if found[key] not in (None, value):
            raise ConfigurationError(
                f"the state directory {directory} belongs to the {key} {found[key] or '(none)'!r}, not to "
                f"{value or '(none)'!r}: give another directory with --state-dir, or the {key} that it belongs to"
            )
