from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd import __version__
from akd.asset.asset import Asset
from akd.asset.read import read_asset
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.math import quaternion, transform
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from tests.export.clip_samples import check_clip, unit
from tests.export.khronos import ERROR, WARNING, codes, validate


def creature(
    *, influences: int, joints: int = 6, roots: int = 1, repeat: int = 0, size: int = 8
) -> tuple[SkinnedMesh, Skeleton]:
    """A ball on a random skeleton, every vertex on several bones."""
    generator = torch.Generator().manual_seed(influences + joints)
    parents = tuple(-1 if j < roots else (j - 1) // 2 for j in range(joints))
    rest = Pose(
        torch.randn(joints, 3, generator=generator),
        quaternion.normalize(torch.randn(joints, 4, generator=generator)),
        torch.rand(joints, 3, generator=generator) + 0.5,
    )
    skeleton = Skeleton(tuple(f"joint {j}" for j in range(joints)), parents, rest)
    angles = np.stack(np.meshgrid(np.linspace(0, np.pi, size), np.linspace(0, 6, size)), -1)
    a, b = angles.reshape(-1, 2).T
    ball = np.stack((np.sin(a) * np.cos(b), np.cos(a), np.sin(a) * np.sin(b)), axis=1)
    corner = np.array(((0, 1, size), (1, size + 1, size)))
    starts = [i * size + j for i in range(size - 1) for j in range(size - 1)]
    faces = np.concatenate([corner + start for start in starts])
    bone_joints = torch.tensor([*range(joints), *range(repeat)])
    bind = transform.inverse(skeleton.forward(rest))
    bind = torch.cat((bind, 1.1 * bind[:repeat]))
    bind[:, 3, 3] = 1.0
    bones = torch.randint(0, joints + repeat, (len(ball), influences), generator=generator)
    weights = torch.rand(len(ball), influences, generator=generator) + 0.01
    skin = Skin(bone_joints, bind, bones, weights / weights.sum(1, keepdim=True))
    colours = torch.rand(len(ball), 3, generator=generator)
    vertices = torch.from_numpy(ball).float()
    return SkinnedMesh(vertices, torch.from_numpy(faces), skin, colours), skeleton


def clip(joint: int) -> ClipData:
    rng = np.random.default_rng(0)
    keys = NodeTracks(Keys(rng.normal(size=(4, 3))), Keys(unit(rng.normal(size=(4, 4)))))
    return ClipData("walk", np.arange(4, dtype=np.float32), {joint: keys}, {"seed": 1})


def posed(asset: Asset) -> np.ndarray:
    """Vertices of the file in its rest pose: linear blend skinning from the records alone."""
    worlds: dict[int, np.ndarray] = {}

    def world(index: int) -> np.ndarray:
        if index not in worlds:
            node = asset.nodes[index]
            w, x, y, z = node.rotation
            local = np.eye(4)
            local[:3, :3] = (
                np.array(
                    (
                        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
                    )
                )
                * node.scale
            )
            local[:3, 3] = node.translation
            worlds[index] = local if node.parent < 0 else world(node.parent) @ local
        return worlds[index]

    (part,) = asset.meshes[0].parts
    assert part.joints is not None
    assert part.weights is not None
    skin = asset.skins[0]
    bones = np.stack(
        [world(int(j)) @ m for j, m in zip(skin.joints, skin.inverse_bind, strict=True)]
    )
    blended = (bones[part.joints] * part.weights[..., None, None]).sum(axis=1)
    points = np.concatenate((part.positions, np.ones((len(part.positions), 1))), axis=1)
    return (blended @ points[..., None])[:, :3, 0]


CASES = {
    "one influence": {"influences": 1},
    "four influences": {"influences": 4},
    "ten influences": {"influences": 10, "joints": 14},
    "three hundred joints": {"influences": 5, "joints": 300},
    "three roots": {"influences": 4, "roots": 3},
    "a joint that is two bones": {"influences": 4, "repeat": 3},
    "many vertices": {"influences": 4, "size": 260},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_is_built_is_valid_and_reads_back(tmp_path: Path, case: dict) -> None:
    mesh, skeleton = creature(**case)
    document = build_document(mesh, skeleton, [clip(2)], name="ball", extras={"seed": 7})
    path = tmp_path / "ball.glb"
    assert write_glb(document, path) == ()
    (issues,) = validate([path])
    assert codes(issues, ERROR) == {}
    assert codes(issues, WARNING) == {}
    asset = read_asset(path)
    assert [p for p in asset.problems if p.severity != "note"] == []
    count = len(skeleton)
    assert tuple(n.name for n in asset.nodes[:count]) == skeleton.names
    (part,) = asset.meshes[0].parts
    np.testing.assert_array_equal(part.positions, mesh.vertices.numpy())
    np.testing.assert_array_equal(part.faces, mesh.faces.numpy())
    assert part.colours is not None
    np.testing.assert_array_equal(part.colours[:, :3], mesh.colours.numpy())
    expected = mesh.pose(skeleton.forward(skeleton.rest)).numpy()
    np.testing.assert_allclose(posed(asset), expected, atol=2e-5 * np.abs(expected).max())
    check_clip(asset, 0, clip(2))
    assert document.json["asset"] == {
        "version": "2.0",
        "generator": f"akd {__version__}",
        "extras": {"seed": 7},
    }


def test_the_weights_in_the_file_sum_to_one(tmp_path: Path) -> None:
    mesh, skeleton = creature(influences=7)
    write_glb(build_document(mesh, skeleton), tmp_path / "ball.glb")
    asset = read_asset(tmp_path / "ball.glb")
    (part,) = asset.meshes[0].parts
    assert part.weights is not None
    assert part.weights.shape[1] == 8
    assert (part.weights.astype(np.float64).sum(axis=1) == 1.0).all()
    primitive = asset.document.json["meshes"][0]["primitives"][0]  # pyright: ignore
    assert {"JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1"} < set(primitive["attributes"])


def test_vertices_without_a_face_have_a_normal(tmp_path: Path) -> None:
    mesh, skeleton = creature(influences=1)
    write_glb(build_document(replace(mesh, faces=mesh.faces[:1]), skeleton), tmp_path / "ball.glb")
    normals = read_asset(tmp_path / "ball.glb").meshes[0].parts[0].normals
    assert normals is not None
    loose = np.setdiff1d(np.arange(len(normals)), mesh.faces[0])
    np.testing.assert_array_equal(normals[loose], ((0, 1, 0),) * len(loose))
