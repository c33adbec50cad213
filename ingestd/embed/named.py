"""An embedder by its registered name."""

from collections.abc import Mapping

from ingestd import registry
from ingestd.ports.embedder import Embedder


def embedder_named(name: str, options: Mapping[str, object]) -> Embedder:
    """Embedder registered under the name, with its options, not yet loaded.

    Raises
    ------
    ConfigurationError
        When no embedder has the name, or it refuses an option.
    AdapterUnavailable
        When its engine is not installed.
    """
    made: Embedder = registry.factory("embedders", name)(dict(options))
    return made
