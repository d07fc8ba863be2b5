"""Forward kinematics and skinning of one file of each rig, against an independent reading."""

import numpy as np
import pytest
import torch

from akd.motion.clip import motion_from_clip
from tests.assets import SHARED_ASSETS, character, gltf_files, gltf_json, one_of_each_rig
from tests.independent_gltf import IndependentGltf

pytestmark = pytest.mark.slow

TOLERANCE = 1e-5  # of body height


def rigged_files() -> list[str]:
    files = [p for p in gltf_files() if "Draco" not in p and gltf_json(p).get("skins")]
    return one_of_each_rig(files)


def sample_times(clip) -> list[float]:
    span = clip.end - clip.start
    return sorted({clip.start + f * span for f in (0.0, 0.31, 0.77)})


@pytest.mark.parametrize("path", rigged_files())
def test_joints_and_vertices_equal_the_specification(path):
    ours, theirs = character(path), IndependentGltf(SHARED_ASSETS / path)
    metres = ours.units.metres_per_unit
    poses = [(ours.skeleton.forward(ours.skeleton.rest)[None], [theirs.worlds({})])]
    for record, clip in zip(ours.asset.clips, theirs.json.get("animations", []), strict=True):
        times = sample_times(record)
        world = motion_from_clip(ours, record).sample(torch.tensor(times)).world()
        poses.append((world, [theirs.worlds(theirs.clip_at(clip, t)) for t in times]))
    for world, expected in poses:
        positions = np.array([w[:, :3, 3] for w in expected]) * metres
        gap = np.abs(world[..., :3, 3].numpy() - positions).max()
        assert gap < TOLERANCE * ours.height
        if ours.mesh is not None:
            check_vertices(ours, theirs, world[-1], expected[-1], metres)


def check_vertices(ours, theirs, world, expected_world, metres):
    expected = theirs.skinned(expected_world)
    posed = ours.mesh.pose(world).numpy()
    skinned = iter(expected)
    start = 0
    for node in ours.asset.nodes:
        if node.mesh is None:
            continue
        for part in ours.asset.meshes[node.mesh].parts:
            count = len(part.positions)
            if node.skin is not None and part.joints is not None:
                wanted = next(skinned) * metres
                # Vertices whose weights are broken in the file are repaired, not reproduced.
                sound = np.isfinite(wanted).all(axis=1)
                assert sound.mean() > 0.99 or not sound.any()  # a part may have no weights at all
                gaps = np.abs(posed[start : start + count] - wanted)[sound]
                assert gaps.max(initial=0.0) < TOLERANCE * ours.height
            start += count
