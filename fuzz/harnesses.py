"""One harness for each parser: bytes in, one of the documented errors or a value out.

Anything else that is raised is a finding, as are ten seconds or a gibibyte.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

import akd.asset.bvh
import akd.asset.fbx.reader
import akd.asset.gltf.reader
import akd.asset.obj
import akd.asset.off
import akd.asset.ply
import akd.asset.splat_ply
import akd.asset.stl
import akd.asset.usd  # noqa: F401, imported here to be instrumented
from akd.asset.asset import AssetError, Budget, Image
from akd.asset.gltf.problems import ProblemLog
from akd.asset.image import decode_image
from akd.asset.isolated import READERS, read_made, write_made
from akd.asset.read import read_asset
from akd.base.files import DamagedFile, checking_content, read_tensors
from akd.commands.errors import UsageError
from akd.commands.resume import checked_options
from akd.distill.checkpoint import Checkpoint, unpack
from akd.distill.run_folder import CHECKPOINT_FORMAT, RunError, RunFolder
from akd.posespace.dataset import FORMAT as POSES_FORMAT
from akd.posespace.dataset import load_poses
from akd.rig.autorig.joint_file import read_joint_file
from akd.rig.role_file import read_role_file
from tests.asset.fbx_text import fbx_text
from tests.asset.usd_text import USD_TEXT

FOLDER = Path(tempfile.mkdtemp(prefix="akd-fuzz-"))


@dataclass(frozen=True)
class Harness:
    """A parser, and which files of the robustness collection it starts from."""

    parse: Callable[[bytes], object]
    suffixes: tuple[str, ...] = ()
    seeds: tuple[bytes, ...] = ()
    inputs_a_process: int | None = None
    """Libraries that keep what they parsed need a new process now and then."""


def _parse_file(name: str, read: Callable[[Path], object], data: bytes) -> None:
    path = FOLDER / name
    path.write_bytes(data)
    try:
        read(path)
    except (AssetError, DamagedFile) as error:
        message = str(error)
        assert message.startswith(str(path)), message
        assert "\n" not in message, message


def _parse_isolated(format: str, data: bytes) -> None:
    """What the reader's own process does, here, where it can be guided by its coverage."""
    path, problems = FOLDER / f"a.{format}", ProblemLog()
    path.write_bytes(data)
    try:
        asset = importlib.import_module(READERS[format][0]).read_records(path, problems, Budget())
        write_made(asset, problems, FOLDER)
        read_made(FOLDER, path, format)
    except AssetError:
        pass


def _parse_image(data: bytes) -> None:
    try:
        decode_image(Image("image", "image/png", data))
    except AssetError as error:
        assert "\n" not in str(error), error


def _parse_run(data: bytes) -> None:
    folder = RunFolder(FOLDER)
    folder.path.mkdir(exist_ok=True)
    (folder.path / "run.json").write_bytes(data)
    try:
        found = folder.read()
        assert found is not None
        checked_options(FOLDER, found["options"])
    except (RunError, UsageError) as error:
        assert "\n" not in str(error), error


def _parse_checkpoint(path: Path) -> None:
    tensors, _ = read_tensors(path, format=CHECKPOINT_FORMAT)
    with checking_content(path):
        for one in unpack(tensors):
            Checkpoint.from_tensors(one)


def _tensors(format: str, tensors: dict[str, Tensor], **about: str) -> bytes:
    return save(tensors, {"format": format, **about})


_ABOUT = b'{"iteration": 3, "history": [{"loss": 1.0}], "rollbacks": 0, "notes": []}'


def _file(name: str, *suffixes: str) -> Harness:
    return Harness(partial(_parse_file, name, read_asset), suffixes)


HARNESSES = {
    "gltf": _file("a.gltf", ".gltf"),
    "glb": _file("a.glb", ".glb"),
    "obj": _file("a.obj", ".obj"),
    "ply": _file("a.ply", ".ply"),
    "stl": _file("a.stl", ".stl"),
    "off": _file("a.off", ".off"),
    "bvh": Harness(
        partial(_parse_file, "a.bvh", read_asset),
        (".bvh",),
        (
            b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition "
            b"Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\n"
            b"Frame Time: 0.1\n0 0 0 0 0 0\n",
        ),
    ),
    "fbx": Harness(
        partial(_parse_isolated, "fbx"), (".fbx",), (fbx_text().encode(),), inputs_a_process=50_000
    ),
    "usd": Harness(
        partial(_parse_isolated, "usd"), (".usd", ".usda", ".usdc"), (USD_TEXT.encode(),),
        inputs_a_process=50_000,
    ),
    "image": Harness(_parse_image, (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")),
    "roles": Harness(
        partial(_parse_file, "a.toml", read_role_file),
        seeds=(b'a = "left hind foot"\n"Tail.001" = "tail 2"\n[t]\nb = [1, 2]\n',),
    ),
    "joints": Harness(
        partial(_parse_file, "a.json", read_joint_file),
        seeds=(b'{"left_fore_foot": [0.08, 0.15, 0.29], "head": [1, 2, 3e5]}',),
    ),
    "run": Harness(
        _parse_run,
        seeds=(
            b'{"format": "akd-run-2", "done": false, "job": {}, "results": ["motion.glb"], '
            b'"options": {"file": "a.glb", "prompt": "a fox walking", "seed": 0, "set": ["a=1"], '
            b'"fps": 30, "keys": "every", "height": 1.5}}',
        ),
    ),
    "checkpoint": Harness(
        partial(_parse_file, "a.safetensors", _parse_checkpoint),
        seeds=(
            _tensors(
                CHECKPOINT_FORMAT,
                {
                    "0.parameter.0": torch.zeros(2, 3), "0.optimiser.0.step": torch.zeros(()),
                    "0.generator": torch.zeros(16, dtype=torch.uint8),
                    "0.about": torch.tensor(list(_ABOUT), dtype=torch.uint8),
                },
            ),
        ),
    ),
    "poses": Harness(
        partial(_parse_file, "a.safetensors", load_poses),
        seeds=(
            _tensors(
                POSES_FORMAT, {"states": torch.zeros(2, 3), "body_of": torch.zeros(1)},
                bodies="[]", clips="[]",
            ),
        ),
    ),
}  # fmt: skip
