"""Makes the store from settings; imports no other engine, for commands that must start fast."""

from pathlib import Path

from ingestd import registry
from ingestd.model.identity import Instance
from ingestd.ports.store import Store
from ingestd.settings import Settings


def store(settings: Settings, directory: Path, *, in_process: bool = False) -> Store:
    """Store of these settings.

    Parameters
    ----------
    directory
        Of the embedded store.
    in_process
        Open the embedded store in this process, for a moment.
    """
    instance, chosen = Instance(settings.instance), settings.store
    options: dict[str, object] = {}
    if chosen.timeout_seconds is not None:
        options["timeout_seconds"] = chosen.timeout_seconds
    if chosen.kind == "edge":
        options |= {
            "directory": str(directory),
            "min_free_bytes": chosen.min_free_bytes,
            "in_process": in_process,
        }
    else:
        options |= {"url": chosen.url, "prefer_grpc": chosen.prefer_grpc}
        if chosen.api_key_file is not None:
            options["api_key_file"] = str(chosen.api_key_file)
    made: Store = registry.factory("stores", chosen.kind)(instance, options)
    return made
