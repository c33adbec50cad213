"""Stores points on a Qdrant server."""

import importlib.util
from pathlib import Path

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd.model.identity import Instance
from ingestd.ports.store import Store
from ingestd_adapters import qdrant_options
from ingestd_adapters.qdrant_options import ServerOptions


def qdrant(instance: Instance, options: dict[str, object]) -> Store:
    """Store on a server for the instance, with the options of :class:`ServerOptions`; connects at its first call.

    Raises
    ------
    AdapterUnavailable
        When the client is not installed.
    ConfigurationError
        When an option is unknown or of a wrong type, or the key's file cannot be read.
    """
    read = qdrant_options.read(ServerOptions, options)
    if importlib.util.find_spec("qdrant_client") is None:
        raise AdapterUnavailable('a Qdrant server needs qdrant-client: pip install "qdrant-client>=1.16"')
    # Here, because importing the client takes 1.5 s.
    from ingestd_adapters.qdrant_server import QdrantServer

    return QdrantServer(instance, read, api_key=None if read.api_key_file is None else _key(Path(read.api_key_file)))


def _key(file: Path) -> str:
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"[store]: api_key_file = {str(file)!r} cannot be read: {error}") from error
    if not key or not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"[store]: api_key_file = {str(file)!r} does not hold one line with a key")
    return key
