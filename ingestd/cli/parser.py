"""The command line's grammar."""

import argparse
from types import ModuleType
from typing import Any

from ingestd import __version__
from ingestd.cli import (
    check,
    chunk,
    compare,
    confirm,
    diff_chunks,
    forget,
    init,
    reindex,
    retry,
    run,
    search,
    show,
    status,
    sync,
    verify,
)
from ingestd.logs import LEVELS

COMMANDS: dict[str, ModuleType] = {
    "init": init,
    "check": check,
    "sync": sync,
    "run": run,
    "status": status,
    "search": search,
    "show": show,
    "reindex": reindex,
    "verify": verify,
    "retry": retry,
    "forget": forget,
    "confirm": confirm,
    "chunk": chunk,
    "compare": compare,
    "diff-chunks": diff_chunks,
}
"""Each has ``add(commands)``, which defines its arguments, and ``run(invocation)``, which gives its outcome."""

_ENDING = """\
exit status: 0 all done; 1 done, but some sources failed, some removals are held, or something is amiss;
2 configuration or usage; 3 a bug; 75 try again later; 130 interrupted.

The configuration is the first of --config, $INGESTD_CONFIG, ./ingestd.toml, $XDG_CONFIG_HOME/ingestd/config.toml
and /etc/ingestd/config.toml. Without any, commands that take folders run on built-in defaults."""


def command_line() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="ingestd",
        description="Keeps a vector database true to some folders.",
        epilog=_ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ingestd {__version__}")
    _add_global(parser, default=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for module in COMMANDS.values():
        module.add(commands)
    for command in commands.choices.values():
        # Also after the command, where people put them too; unset there, they leave what stood before it.
        _add_global(command, default=argparse.SUPPRESS)
    return parser


def _add_global(parser: argparse.ArgumentParser, *, default: Any) -> None:
    hidden = default == argparse.SUPPRESS

    def add(flag: str, metavar: str | None, text: str, choices: tuple[str, ...] | None = None) -> None:
        shown = argparse.SUPPRESS if hidden else text
        parser.add_argument(flag, default=default, metavar=metavar, help=shown, choices=choices)

    add("--config", "FILE", "configuration file (also $INGESTD_CONFIG)")
    add("--state-dir", "DIR", "where ledger, caches and embedded store are kept (also $INGESTD_STATE_DIR)")
    add("--log-level", None, "least level of the log on stderr; default: warning, info for run", LEVELS)
    add("--log-format", None, "form of the log on stderr; default: text", ("text", "json"))
