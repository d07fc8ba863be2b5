"""Records `docs/session.md` again: runs its commands in a terminal of 80 columns.

    python docs/make_session.py

Every line of a code block that begins with `$` is run, in order, in one empty folder; a command
that ends with a backslash goes on after `>`. What follows it on the page is replaced. Text between
the blocks is written by hand and stays. Of the progress line, which is drawn over itself, the page
keeps the middle one of every phase that counts.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "session.md"
COLUMNS, ROWS = 80, 24
PROGRESS = re.compile(r"^. (?P<phase>.{15}) [━╸╺]+ +(?P<count>\d+/\d+) +\d.* (s|min|h)( left)?$")
"""The spinner, the phase, its bar, its count, and the time so far and left."""
_TOKEN = re.compile(r"\x1b\[(?P<number>[\d;?]*)(?P<code>[A-Za-z])|(?P<one>.)", re.DOTALL)


class Screen:
    """A terminal of 80 columns that never scrolls: what rich writes ends up where it is seen."""

    def __init__(self) -> None:
        self.lines = [""]
        self._row = self._column = 0
        self._drawn: dict[str, dict[str, str]] = {}
        """The last progress line of every count of every phase, in the order of drawing."""

    def feed(self, text: str) -> None:
        """Write text with its control sequences."""
        for token in _TOKEN.finditer(text):
            code, one = token["code"], token["one"]
            if code == "A":
                self._row = max(0, self._row - int(token["number"] or 1))
            elif code == "K":
                self._remember(self.lines[self._row])
                self.lines[self._row] = ""
            elif one == "\r":
                self._column = 0
            elif one == "\n":
                self._next_row()
            elif one is not None and one.isprintable():
                self._put(one)

    def text(self) -> str:
        """What the terminal shows in the end, with a progress line before that of its phase."""
        shown = []
        for line in self.lines:
            drawn = list(self._drawn.pop(line[:15], {}).values())
            shown += [*drawn[len(drawn) // 2 :][:1], line.rstrip()]
        return "\n".join(shown).rstrip("\n")

    def _put(self, one: str) -> None:
        if self._column == COLUMNS:
            self._next_row()
            self._column = 0
        line = self.lines[self._row].ljust(self._column)
        self.lines[self._row] = line[: self._column] + one + line[self._column + 1 :]
        self._column += 1

    def _next_row(self) -> None:
        self._row += 1
        if self._row == len(self.lines):
            self.lines.append("")

    def _remember(self, line: str) -> None:
        """Keep a progress line that is about to be erased; one that counts must be complete."""
        found = PROGRESS.match(line.rstrip())
        if found is not None:
            self._drawn.setdefault(found["phase"], {})[found["count"]] = line.rstrip()
        elif re.search(r"\d/\d+", line) or "…" in line:
            raise ValueError(f"a progress line does not fit {COLUMNS} columns: {line!r}")


def record(command: str, folder: Path, *, status: int = 0) -> tuple[str, int]:
    """What a command shows in a terminal of 80 columns, and its exit status.

    Args:
        command: For bash.
        folder: To run it in.
        status: Of the command before it, for `$?`.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    here = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    process = subprocess.Popen(
        ["bash", "-c", f"(exit {status}); {command}"],
        cwd=folder, stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "PATH": here, "TERM": "xterm", "COLUMNS": str(COLUMNS)},
    )  # fmt: skip
    os.close(slave)
    screen, decode = Screen(), codecs.getincrementaldecoder("utf-8")("replace").decode
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not data:
            break
        screen.feed(decode(data))
    os.close(master)
    return screen.text(), process.wait()


def recorded(page: str, folder: Path) -> str:
    """The page with the output of all its commands made anew."""
    lines, inside, command, status = [], False, "", 0
    for line in page.splitlines():
        if line.startswith("```"):
            inside = not inside
        if line.startswith("$ ") or command:
            lines.append(line)
            command += line[2:].removesuffix("\\")
            if line.endswith("\\"):
                continue  # goes on in the next line, after "> "
            print(f"$ {command}", flush=True)
            text, status = record(command, folder, status=status)
            lines += text.splitlines()
            command = ""
        elif not inside or line.startswith("```"):
            lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Record the page."""
    if shutil.which("akd", path=str(Path(sys.executable).parent)) is None:
        sys.exit("akd is not installed beside this Python: run it with .venv/bin/python")
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(recorded(PAGE.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
