"""`main`: what `akd COMMAND ...` calls.

It imports almost nothing before it listens to Ctrl-C: the commands take a quarter of a second to
import, and Python would answer with a traceback.
"""

from __future__ import annotations

import io
import os
import signal
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 2: an error that the user can fix. 3: the files are written, and the result fails its
    own conditions. 70: an unexpected error. 130: stopped by Ctrl-C or SIGTERM.
    """
    try:
        heard = {}
        if arguments is None:
            _open_streams()
            heard = _leave_at_once()
        from akd.commands.command_line import run_command

        for number, handler in heard.items():
            signal.signal(number, handler)
        if arguments is None:
            arguments = sys.argv[1:]
            # Like Ctrl-C: keep a checkpoint, remove temporary files, say how to go on.
            signal.signal(signal.SIGTERM, terminate)
            if isinstance(sys.stdout, io.TextIOWrapper):
                # Names may hold letters that a terminal's encoding has not.
                sys.stdout.reconfigure(errors="backslashreplace")
        return run_command(arguments)
    except KeyboardInterrupt as error:
        from akd.commands.errors import say

        say(f"akd: {error if error.args else 'stopped'}", to=sys.stderr)
        return 130


def terminate(*_: object) -> None:
    """Do what Ctrl-C does, also where a shell that starts jobs in the background ignores that."""
    if callable(signal.getsignal(signal.SIGINT)):
        signal.raise_signal(signal.SIGINT)
    else:
        raise KeyboardInterrupt


def _open_streams() -> None:
    """Let streams that are closed lead nowhere, as daemons start programs. A file that is opened
    later would else take their place, and hold what libraries print."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)  # so that the processes that akd starts have them too
    os.close(opened)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - until the process ends


def _leave_at_once() -> dict:
    """Let Ctrl-C and SIGTERM end the process, and return what they did before.

    An exception would not do: an import may take it for a missing module.
    """

    def leave(*_: object) -> None:
        os.write(sys.stderr.fileno(), b"akd: stopped\n")
        os._exit(130)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # as shells start jobs in the background
            signal.signal(number, leave)
    return before
