"""Running `akd animate` in tests: its words, what it refuses, and characters to try it on."""

from pathlib import Path

import numpy as np
import torch

from akd.base import files
from akd.cli import main
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.math import transform
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from tests.commands.small_prior import QUICK

DONE = (0, 3)
"""Exit codes of a run that wrote its results: untrained weights make nothing that may be shown."""


def words(fox, weights, out, *more: str, prompt: str = "a fox walking") -> list[str]:
    given = ["animate", str(fox), prompt, "-o", str(out), "--weights", str(weights)]
    return [*given, "--no-grounded", "--device", "cpu", "--iterations", "6", *QUICK, *more]


def refused(capsys, arguments: list[str]) -> str:
    assert main(arguments) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("akd: ")]
    lines = [line for line in said if not line.startswith("akd: note:")]
    assert len(lines) == 1, said
    return lines[0].removeprefix("akd: ")


def same_result(a: Path, b: Path) -> None:
    for name in ("motion.glb", "video.mp4", "metrics.json"):
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


def stop_after(monkeypatch, writes: int, error: BaseException) -> None:
    """The given error at the given file that is flushed to the disk; its folder is flushed too."""
    flush, calls = files._flush, []

    def stopping(path):
        if path.is_file():
            calls.append(path)
            if len(calls) == writes:
                raise error
        flush(path)

    monkeypatch.setattr(files, "_flush", stopping)


def chain(path: Path, joints: int, *, skinned: bool = True) -> Path:
    """A chain of boxes, one a joint, standing upright."""
    count = max(joints, 1)
    boxes, faces, bones = [], [], []
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (0, 1) for z in (-1, 1)], dtype=float)
    box = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
           (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    for joint in range(count):
        boxes.append(corners * (0.05, 1.0 / count, 0.05) + (0, joint / count, 0))
        faces += [tuple(8 * joint + i for i in face) for face in box]
        bones += [joint] * 8
    vertices = torch.tensor(np.concatenate(boxes), dtype=torch.float32)
    rest = Pose.identity(count)
    offset = rest.translation.clone()
    offset[1:, 1] = 1.0 / count
    skeleton = Skeleton(
        tuple(f"bone{i}" for i in range(count)), (-1, *range(count - 1)),
        Pose(offset, rest.rotation, rest.scale),
    )  # fmt: skip
    skin = Skin(
        torch.arange(count), transform.inverse(skeleton.forward(skeleton.rest)),
        torch.tensor(bones)[:, None], torch.ones(len(bones), 1),
    )  # fmt: skip
    mesh = SkinnedMesh(vertices, torch.tensor(faces), skin, torch.full_like(vertices, 0.5))
    write_glb(build_document(mesh, skeleton, name="chain"), path)
    return path
