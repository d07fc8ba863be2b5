"""`Shell`: an engine that writes one command a call, for Slurm, SkyPilot or any other scheduler."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from akd.engine.call import Call, Ended, Resources


class Shell:
    """Hands calls over as commands."""

    def __init__(
        self, command: Callable[[str], Sequence[str]], *, write: Callable[[str], object] = print
    ) -> None:
        """Make an engine.

        Args:
            command: The words of the command that runs the call with a given key.
            write: Takes the lines.
        """
        self._command, self._write = command, write
        self._ended: list[Ended] = []

    def has_gpus(self) -> bool:
        """Not known here: what runs the command decides."""
        return False

    def accepts(self, resources: Resources) -> bool:
        """Any number of calls."""
        return True

    def submit(self, call: Call) -> None:
        """Write the command."""
        self._write(shlex.join(self._command(call.key)))
        self._ended.append(Ended(call.key, deferred=True))

    def collect(self, timeout: float) -> list[Ended]:
        """All that was written since."""
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Nothing runs here."""
