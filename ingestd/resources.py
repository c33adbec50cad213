"""Files that ship with the program: migrations, unit files, the example configuration."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(name: str) -> Path:
    """Path of a shipped file or folder: inside the installed wheel, or beside the package in a checkout.

    Raises
    ------
    FileNotFoundError
        When neither place has it: the installation is incomplete.
    """
    for folder in (_PACKAGE / "_shipped", _PACKAGE.parent):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"{name} is missing from the installation at {_PACKAGE}: install ingestd again")
