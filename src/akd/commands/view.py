"""`akd view`: characters, clips and runs in the browser."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import UsageError, check_ranges, usage_errors


@dataclass(frozen=True)
class View:
    """Show a character, its clips and runs in the browser; pose it, and animate it from there.

    The page is served only to this computer. It reads and writes only in the given folder, or in
    that of the given file. Ctrl-C stops it. Needs akd[view].

    Example: akd view out/
    """

    path: tyro.conf.Positional[Path]
    """A file with a character (GLB, glTF, VRM, FBX, USD, .blend, BVH), a folder that `akd animate`
    wrote, or a folder of these."""
    port: int = 8080
    """If it is in use, the next free port is taken."""
    host: str = "127.0.0.1"
    """Address to listen on. Anyone who can reach an address other than 127.0.0.1 can use the page,
    without a password."""
    full: bool = False
    """Show all triangles. By default a character of more than 24,000 is decimated to that
    number, because every frame sends all vertices."""

    def run(self) -> None:
        """Serve until Ctrl-C."""
        check_ranges(self, port=(0, 65535))
        try:
            from akd.view.looks import TRIANGLES
            from akd.view.server import LOCAL, Viewer
        except ImportError as error:
            needed = f"akd view needs akd[view]: pip install 'akd[view]' ({error})"
            raise UsageError(needed) from None
        print(f"reading {self.path} ...", flush=True)
        with usage_errors():
            viewer = Viewer(
                self.path, host=self.host, port=self.port,
                most_triangles=None if self.full else TRIANGLES,
            )  # fmt: skip
        if self.host not in (LOCAL, "localhost", "::1"):
            print(
                f"akd: warning: listening on {self.host}: anybody who reaches it can read and "
                f"write in {viewer.content.root}, and start runs",
                file=sys.stderr,
            )
        with viewer:
            print(f"{viewer.address}: open it in a browser; Ctrl-C stops it", flush=True)
            try:
                while True:
                    time.sleep(3600.0)
            except KeyboardInterrupt:
                print("ended")
