"""Blender as another process: the program on the PATH, its Python module, or `AKD_BLENDER`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

_LONGEST = 600.0
"""Seconds that Blender may take."""


class BlenderFailed(OSError):
    """Blender ended with an error. The message is the last line that it printed."""


def has_blender() -> bool:
    """Whether a script can be run in Blender."""
    return _command("") is not None


def run_in_blender(script: str, *arguments: object) -> None:
    """Run a Python script in Blender; it finds the arguments at the end of `sys.argv`.

    Raises `BlenderFailed` where there is no Blender, or where the script fails.
    """
    command = _command(script)
    if command is None:
        raise BlenderFailed("needs Blender: put it on the PATH, or its path into AKD_BLENDER")
    try:
        done = subprocess.run(
            [*command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", check=False, timeout=_LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BlenderFailed(f"took more than {_LONGEST:g} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise BlenderFailed(" ".join(last) or f"ended with exit code {done.returncode}")


def _command(script: str) -> list[str] | None:
    given = os.environ.get("AKD_BLENDER")
    program = given or shutil.which("blender")
    if program and "python" not in Path(program).name:
        return [program, "--background", "--factory-startup", "--disable-autoexec",
                "--python-exit-code", "1", "--python-expr", script, "--"]  # fmt: skip
    if program:
        return [program, "-c", script]
    if importlib.util.find_spec("bpy") is not None:
        return [sys.executable, "-c", script]
    return None
