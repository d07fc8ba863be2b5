"""One rig of each family of real files has the same roles when turned, mirrored or scaled."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd.asset.asset import Asset
from akd.rig.character import load_character
from akd.rig.roles.anatomy import Anatomy
from benchmarks.roles_variants import without_names
from tests.assets import character, up_axis, upright
from tests.rig.test_roles_real import LABELS
from tests.rig.test_rotations import mirrored, turned_scene

pytestmark = pytest.mark.slow

BY_FAMILY = {label.family: path for path, label in reversed(LABELS.items())}
PATHS = sorted(
    path
    for path in BY_FAMILY.values()
    # A hand alone has no plane of symmetry; BVH files have no scene to turn.
    if path != "babylon/r_hand_rhs.glb" and not path.endswith(".bvh")
)
FACING_BY_FORMAT = {
    # Shape and names disagree about the front, so that glTF's +Z decides.
    "quaternius/ultimate_space_kit/Mech.glb",
    "sketchfab_ccby/fish_atlas.glb",
}


def scaled(asset: Asset, factor: float) -> Asset:
    nodes = [
        replace(n, scale=factor * n.scale, translation=factor * n.translation)
        if n.parent < 0
        else n
        for n in asset.nodes
    ]
    return replace(asset, nodes=tuple(nodes))


def loaded(asset: Asset, path: str) -> Anatomy:
    return load_character(asset, up=up_axis(path)).anatomy


@pytest.mark.parametrize("degrees", [90, 180, 270])
@pytest.mark.parametrize("path", PATHS)
def test_turned(path, degrees, shared_assets):
    asset = character(path).asset
    rotation = Rotation.from_rotvec([0.0, np.radians(degrees), 0.0])
    true = upright(path).anatomy
    found = loaded(turned_scene(asset, rotation), path)
    if path in FACING_BY_FORMAT and rotation.apply(true.forward)[2] < -0.9:
        assert found.forward_confidence < 0.9  # `akd inspect` says how to turn it
        return
    assert found.roles == true.roles
    np.testing.assert_allclose(found.forward, rotation.apply(true.forward), atol=1e-5)


@pytest.mark.parametrize("path", PATHS)
def test_mirrored(path, shared_assets):
    bare = without_names(character(path).asset)
    true, found = loaded(bare, path), loaded(mirrored(bare), path)
    assert found.roles == tuple(replace(r, side=r.side.other) for r in true.roles)


@pytest.mark.parametrize("factor", [0.01, 100.0])
@pytest.mark.parametrize("path", PATHS)
def test_scaled(path, factor, shared_assets):
    found = loaded(scaled(character(path).asset, factor), path)
    assert found.roles == upright(path).anatomy.roles
