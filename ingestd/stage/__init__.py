"""Takes a settled file: opened safely, fingerprinted, copied aside while the original may go on changing."""

from ingestd.stage.stage import Staged, clear, stage

__all__ = ["Staged", "clear", "stage"]
