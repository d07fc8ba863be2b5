"""Time and memory of opening, reading and saving GLB files, beside pygltflib and trimesh.

python -m benchmarks.asset                files of ../shared/assets, and a made one of 100 MB
python -m benchmarks.asset --assets DIR   the same from another folder

The libraries do different things. `open` is the container, its JSON and its bytes, which is all
that pygltflib does. `read` makes arrays of them: akd's with skins, clips and morph targets, checked
and repaired; trimesh's of the geometry alone. `save` writes a binary file again.

Each number comes from a process of its own. Time is processor time, which others on the machine do
not change, the best of several runs; memory is the growth of the peak resident size in the first.
Prints a table and writes it to docs/benchmarks/asset.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]

FILES = (
    "khronos/Fox/glTF-Binary/Fox.glb",
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
    "quaternius/animals_pack/Wolf.glb",
    "mesh2motion/models-variation/human-sintel.glb",
    "mesh2motion/animations/kaiju-animations.glb",
    "kaykit/Rogue_Hooded.glb",
)
PEERS = {"open": ("akd", "pygltflib"), "read": ("akd", "pygltflib", "trimesh"),
         "save": ("akd", "pygltflib", "trimesh")}  # fmt: skip


def make_large_glb(path: Path, *, megabytes: int = 100) -> None:
    """Write skinned grids, interleaved, with 16-bit indices, until the file has that size."""
    columns, rows = 300, 200
    count = columns * rows
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1).reshape(-1, 2)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.concatenate(
        (
            np.stack((corner, corner + 1, corner + columns), -1),
            np.stack((corner + 1, corner + columns + 1, corner + columns), -1),
        )
    ).astype("<u2")
    layout = [
        ("POSITION", "<f4", 3, 5126),
        ("NORMAL", "<f4", 3, 5126),
        ("JOINTS_0", "<u1", 4, 5121),
        ("WEIGHTS_0", "<f4", 4, 5126),
    ]
    vertices = np.zeros(count, [(name, kind, (n,)) for name, kind, n, _ in layout])
    vertices["POSITION"][:, :2] = grid
    vertices["NORMAL"][:, 2] = vertices["WEIGHTS_0"][:, 0] = 1.0
    block = vertices.tobytes() + faces.tobytes()
    parts = -(-megabytes * 2**20 // len(block))
    views: list[dict[str, Any]] = []
    accessors: list[dict[str, Any]] = []
    primitives: list[dict[str, Any]] = []
    for part in range(parts):
        start = part * len(block)
        attributes = {}
        for name, _, n, code in layout:
            attributes[name] = len(accessors)
            entry = {"bufferView": len(views), "componentType": code, "type": f"VEC{n}"}
            offset = vertices.dtype.fields[name][1]  # pyright: ignore[reportOptionalSubscript]
            accessors.append({**entry, "count": count, "byteOffset": offset})
            if name == "POSITION":
                accessors[-1].update(min=[0, 0, 0], max=[columns - 1, rows - 1, 0])
        size = vertices.nbytes
        views.append({"buffer": 0, "byteOffset": start, "byteLength": size, "byteStride": 44})
        primitives.append({"attributes": attributes, "indices": len(accessors)})
        entry = {"bufferView": len(views), "componentType": 5123, "type": "SCALAR"}
        accessors.append({**entry, "count": faces.size})
        views.append({"buffer": 0, "byteOffset": start + size, "byteLength": faces.nbytes})
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "joint"}],
        "skins": [{"joints": [1]}],
        "meshes": [{"primitives": primitives}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": parts * len(block)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    length = parts * len(block)
    with path.open("wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + length))
        file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
        file.write(struct.pack("<II", length, 0x004E4942))
        file.writelines([block] * parts)


def prepare(library: str, step: str, path: Path, target: Path) -> Callable[[], object]:
    """Import a library, and return what is to be measured."""
    if library == "akd":
        from akd.asset.gltf.document import read_document
        from akd.asset.read import read_asset

        if step == "open":
            return lambda: read_document(path)
        if step == "read":
            return lambda: read_asset(path)
        from akd.export.gltf.write import write_glb

        document = read_document(path)
        return lambda: write_glb(document, target)
    if library == "pygltflib":
        import pygltflib

        if step != "save":
            return lambda: pygltflib.GLTF2().load(str(path))
        gltf = pygltflib.GLTF2().load(str(path))
        assert gltf is not None
        return lambda: gltf.save_binary(str(target))
    import trimesh

    if step == "read":
        return lambda: trimesh.load_scene(path, process=False)
    scene = trimesh.load_scene(path, process=False)
    return lambda: scene.export(str(target), file_type="glb")


def memory(field: str) -> int:
    """Bytes of VmHWM (the peak) or VmRSS (now). Not ru_maxrss, which is inherited."""
    status = Path("/proc/self/status").read_text()
    found = re.search(rf"{field}:\s*(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def measure(library: str, step: str, path: Path) -> dict[str, float]:
    """Seconds and bytes of one step, in this process."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        run = prepare(library, step, path, Path(folder) / "out.glb")
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = memory("VmRSS")
        times: list[float] = []
        grown = 0
        while len(times) < 15 and sum(times) < 2.0:
            start = time.process_time()
            result = run()
            times.append(time.process_time() - start)
            grown = grown or memory("VmHWM") - before
            del result
    return {"seconds": min(times), "bytes": grown}


def measure_apart(library: str, step: str, path: Path) -> dict[str, float] | None:
    """The same in a process of its own; None, and why, where it fails."""
    command = [sys.executable, "-m", "benchmarks.asset", "--measure", library, step,
               str(path.resolve())]  # fmt: skip
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        reason = result.stderr.strip().splitlines()[-1:]
        print(f"{library} cannot {step} {path.name}: {reason}", file=sys.stderr)
        return None
    return json.loads(result.stdout.splitlines()[-1])


def describe(path: Path) -> str:
    """Size of a file, and how many animation channels are in it: they are what takes time."""
    from akd.asset.gltf.document import read_document

    animations = read_document(path).json.get("animations", [])
    channels = sum(len(animation["channels"]) for animation in animations)
    return f"{path.stat().st_size / 2**20:.1f} MiB, {channels} channels"


def rows_of(path: Path) -> list[str]:
    rows: list[str] = []
    label = f"{path.name} ({describe(path)})"
    for step, libraries in PEERS.items():
        found = {library: measure_apart(library, step, path) for library in libraries}
        ours = found.pop("akd")
        if ours is None:
            continue
        cells = [f"{ours['seconds'] * 1000:.1f} ms", f"{ours['bytes'] / 2**20:.1f} MiB"]
        for library in ("pygltflib", "trimesh"):
            theirs = found.get(library)
            if theirs is None:
                cells += ["", ""]
                continue
            cells.append(f"{theirs['seconds'] / ours['seconds']:.1f}")
            # Pages that were free already cost nothing: a ratio of two such numbers says nothing.
            enough = min(ours["bytes"], theirs["bytes"]) > 2**20
            cells.append(f"{theirs['bytes'] / ours['bytes']:.1f}" if enough else "")
        rows.append(f"| {label} | {step} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return rows


HEADER = (
    "| file | step | akd, time | akd, memory | pygltflib, time | pygltflib, memory "
    "| trimesh, time | trimesh, memory |\n|---|---|---:|---:|---:|---:|---:|---:|"
)


def report(rows: list[str]) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("pygltflib", "trimesh", "numpy"))
    return f"""# Opening, reading and saving GLB files

    python -m benchmarks.asset

akd's own numbers, and for the others how many times as much they take (above 1: akd is better).

- `open`: container, JSON and bytes. That is all pygltflib does, so its `read` is the same again.
- `read`: arrays. akd's include skins, clips and morph targets, all checked and repaired; trimesh's
  are the geometry alone, so it is ahead where a file is mostly clips.
- `save`: a binary file again. What trimesh writes has lost its skins and clips.

Each number is from a process of its own. Time is processor time, the best of several runs; memory
is the growth of the peak resident size in the first. No ratio is given where either grew by less
than 1 MiB, and none where the other library fails. `made.glb` is skinned grids, interleaved, with
16-bit indices.

Python {platform.python_version()}, {libraries}, {os.cpu_count()} CPU cores.

{HEADER}
{chr(10).join(rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--assets", type=Path, default=ROOT.parent / "shared" / "assets")
    parser.add_argument("--measure", nargs=3, metavar=("LIBRARY", "STEP", "FILE"))
    arguments = parser.parse_args()
    if arguments.measure:
        library, step, path = arguments.measure
        print(json.dumps(measure(library, step, Path(path))))
        return
    print(HEADER)
    rows: list[str] = []
    for name in FILES:
        path = arguments.assets / name
        if path.is_file():
            rows += rows_of(path)
        else:
            print(f"{name} is not in the folder of assets", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.glb"
        make_large_glb(path)
        rows += rows_of(path)
    target = ROOT / "docs" / "benchmarks" / "asset.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(report(rows))


if __name__ == "__main__":
    main()
