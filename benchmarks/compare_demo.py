"""Whether a change keeps the demo's motion bit for bit: `python -m benchmarks.compare_demo REV`.

Runs `akd demo` in a checkout of REV and in this one, on the CPU, and compares the two motion.glb:
every byte of their data, and all of their JSON but the hash of the run's settings. Give two files
in place of a revision to compare those.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def read_glb(path: Path) -> tuple[Any, bytes]:
    """JSON without the hashes of settings, and the binary chunk."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    for clip in document.get("animations", []):
        clip.get("extras", {}).pop("run", None)
    return document, data[20 + length :]


def run_demo(source: Path, out: Path) -> Path:
    """The demo of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    command = [sys.executable, "-m", "akd", "demo", "--out", str(out), "--device", "cpu"]
    subprocess.run(command, env=environment, cwd=out.parent, check=True)
    return out / "motion.glb"


def compare(one: Path, other: Path) -> int:
    """Print what differs; the exit code."""
    (json_one, data_one), (json_other, data_other) = read_glb(one), read_glb(other)
    if json_one == json_other and data_one == data_other:
        print("the same, bit for bit")
        return 0
    if json_one != json_other:
        differs = [key for key in json_one if json_one[key] != json_other.get(key)]
        print(f"the JSON differs: {', '.join(differs) or 'keys are missing'}")
    if data_one != data_other:
        count = sum(a != b for a, b in zip(data_one, data_other, strict=False))
        print(f"the data differs: {len(data_one)} and {len(data_other)} bytes, {count} of them not")
    return 1


def main(arguments: list[str]) -> int:
    if len(arguments) == 2:
        return compare(Path(arguments[0]), Path(arguments[1]))
    (revision,) = arguments
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        add = ["git", "-C", str(ROOT), "worktree", "add", "--detach", str(checkout), revision]
        subprocess.run(add, check=True)
        try:
            before = run_demo(checkout, Path(folder) / "before")
            after = run_demo(ROOT, Path(folder) / "after")
            return compare(before, after)
        finally:
            remove = ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(checkout)]
            subprocess.run(remove, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
