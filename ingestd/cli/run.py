"""``ingestd run``: the daemon, in the foreground."""

import faulthandler
import os
import threading

from ingestd.cli.arguments import Commands, add_adopt, add_command
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "run",
        "keep the index true to the configured roots, until stopped",
        "Runs in the foreground: systemd, a terminal or a container starts and stops it. SIGINT and SIGTERM finish or "
        "abandon the work in hand within daemon.shutdown_seconds and lose nothing; neither does a second signal, which "
        "is immediate.",
    )
    add_adopt(parser)


def run(invocation: Invocation) -> ExitCode:
    """The daemon, until a signal stops it."""
    from ingestd.daemon.loop import Loop
    from ingestd.daemon.notify import Notifier, watchdog_seconds
    from ingestd.daemon.owner import Owner, Ownership
    from ingestd.daemon.signals import Signals
    from ingestd.wiring.segmenters import probe_all

    # The service manager's watchdog ends a stuck process by SIGABRT: that leaves the traceback of every thread.
    faulthandler.enable()
    notifier = Notifier.from_environment(invocation.environment)
    ownership = Ownership(
        settings=invocation.settings(absent_folders="allowed"),
        configuration=invocation.configuration,
        state_dir=invocation.state_dir,
        adopt=invocation.arguments.adopt,
        command="run",
    )
    wake = threading.Event()
    with Signals(wake=wake.set) as signals, Owner(ownership, signals.stop) as owner:
        probe_all(owner.settings)
        Loop(owner, signals, notifier, wake).run(watchdog_seconds(invocation.environment, os.getpid()))
    return ExitCode.DONE
