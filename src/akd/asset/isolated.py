"""Readers that run in a process of their own: FBX and USD, by libraries that are not ours.

The child turns the file into a glTF document in a temporary folder, which the parent reads like any
other. A parser that crashes, hangs or asks for too much memory ends the child, and the parent
reports one line.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import akd.base
from akd.asset.asset import MEMORY_LIMIT, Asset, AssetError, Budget
from akd.asset.gltf.document import read_document
from akd.asset.gltf.encode import encode
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.reader import asset_from_document
from akd.asset.surface import naming_file

READERS = {"fbx": ("akd.asset.fbx.reader", "ufbx"), "usd": ("akd.asset.usd", "pxr")}
"""The reader of each format, and the library that it needs."""
_PROCESSOR_SECONDS = 10
"""For the file, besides what starting the child took."""
_WAITING_SECONDS = 600
"""For a child that waits without using the processor, for a pipe for example."""
_LIBRARIES = 512 * 2**20
"""What the interpreter and the libraries may take besides the file's own memory."""
_REFUSED = 2


def read(path: Path, format: str) -> Asset:
    """Read a file in a child process. Raises `AssetError` where it cannot be used."""
    library = READERS[format][1]
    if importlib.util.find_spec(library) is None:
        raise AssetError(
            f"{path}: reading {format.upper()} needs akd[{format}]: pip install 'akd[{format}]'"
        )
    with tempfile.TemporaryDirectory(prefix="akd-") as folder:
        with naming_file(path):
            _run_child(path.absolute(), format, Path(folder))
        return read_made(Path(folder), path, format)


def read_made(folder: Path, path: Path, format: str) -> Asset:
    """The asset of a document that another process wrote to `folder`, standing for `path`."""
    problems, budget = ProblemLog(), Budget()
    told = folder / "problems.json"
    for severity, where, what, action in json.loads(told.read_text("utf-8")):
        problems.add(severity, where, what, action)
    document = read_document(folder / "scene.gltf", problems=problems, budget=budget)
    buffers = [{"byteLength": len(data)} for data in document.buffers]
    document = replace(
        document,
        json={**document.json, **({"buffers": buffers} if buffers else {})},
        folder=path.parent,
        is_binary=True,
    )
    asset = asset_from_document(document, path, problems=problems, budget=budget)
    return replace(asset, format=format)


def _run_child(path: Path, format: str, folder: Path) -> None:
    source = Path(akd.base.__file__).parents[2]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "akd.asset.isolated", format, str(path), str(folder)],
            # One thread: a pool of them takes address space for each.
            env={**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=_WAITING_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise AssetError(f"must be read within {_WAITING_SECONDS} s, was not") from None
    if done.returncode == _REFUSED:
        lines = done.stderr.strip().splitlines() or ["cannot be read"]
        raise AssetError(clean_text(lines[-1]))
    if done.returncode or not (folder / "scene.gltf").exists():
        raise AssetError(
            f"is broken: the {format.upper()} reader failed with exit code {done.returncode}, or "
            f"needed more than {MEMORY_LIMIT >> 20} MiB or {_PROCESSOR_SECONDS} s"
        )


def main(format: str, path: str, folder: str) -> None:
    """What the child does. Does not return: libraries are not torn down."""
    for kind, own in (
        (resource.RLIMIT_DATA, MEMORY_LIMIT + _LIBRARIES),
        (resource.RLIMIT_CPU, math.ceil(time.process_time()) + _PROCESSOR_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]  # of the user's shell: it cannot be raised
        limit = own if hard == resource.RLIM_INFINITY else min(own, hard)
        resource.setrlimit(kind, (limit, limit))
    problems = ProblemLog()
    try:
        reader = importlib.import_module(READERS[format][0])
        asset: Asset = reader.read_records(Path(path), problems, Budget())
        write_made(asset, problems, Path(folder))
    except AssetError as error:
        print(clean_text(str(error)), file=sys.stderr, flush=True)
        os._exit(_REFUSED)
    except MemoryError:
        print(f"must fit in {MEMORY_LIMIT >> 20} MiB of memory", file=sys.stderr, flush=True)
        os._exit(_REFUSED)
    sys.stdout.flush()
    os._exit(0)


def write_made(asset: Asset, problems: ProblemLog, folder: Path) -> None:
    """Write what `read_made` reads."""
    document = encode(asset)
    told = [(p.severity, p.where, p.what, p.action) for p in problems.all()]
    (folder / "problems.json").write_text(json.dumps(told), "utf-8")
    made = dict(document.json)
    if document.buffers:
        (folder / "scene.bin").write_bytes(document.buffers[0])
        made["buffers"] = [{**made["buffers"][0], "uri": "scene.bin"}]
    (folder / "scene.gltf").write_text(json.dumps(made, allow_nan=False), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
