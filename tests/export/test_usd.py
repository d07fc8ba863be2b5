"""A character in motion as USD: what UsdSkel makes of it is what akd skins."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.export.usd import write_usd
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid
from akd.rig.character import Character, load_character
from akd.rig.skin import Skin
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from tests.export.usd_checker import usd_errors

pytest.importorskip("pxr")


@pytest.fixture(scope="module")
def fox(tmp_path_factory: pytest.TempPathFactory) -> Character:
    path = tmp_path_factory.mktemp("fox") / "2 foxes.glb"
    creature = build_creature("fox", vertices=600)
    write_creature(creature, [make_clip(creature, "walk", frames=8)], path)
    return load_character(read_asset(path))


def twice_bound(character: Character) -> Character:
    """Every other vertex bound to bones of its own that sit elsewhere on the same joints."""
    mesh = character.mesh
    assert mesh is not None
    skin, count = mesh.skin, len(mesh.skin.bone_joints)
    shift = torch.eye(4)
    shift[0, 3] = 0.1
    odd = torch.arange(len(mesh.vertices)) % 2 == 1
    bones = skin.bones + odd[:, None] * count
    inverse = torch.cat((skin.inverse_bind, skin.inverse_bind @ shift))
    doubled = Skin(skin.bone_joints.repeat(2), inverse, bones, skin.weights)
    return replace(character, mesh=replace(mesh, skin=doubled))


@pytest.mark.parametrize("bindings", [1, 2])
def test_points_are_where_akd_puts_them(fox: Character, tmp_path: Path, bindings: int) -> None:
    from pxr import Usd, UsdSkel

    character = fox if bindings == 1 else twice_bound(fox)
    assert character.mesh is not None
    motion = on_grid(motion_from_clip(character, character.asset.clips[0]), 24.0)
    path = tmp_path / "fox.usda"
    write_usd(character, motion, path, fps=24.0)
    assert usd_errors(path) == []
    stage = Usd.Stage.Open(str(path))
    assert stage.GetTimeCodesPerSecond() == 24.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, len(motion) - 1.0)
    root = UsdSkel.Root(stage.GetDefaultPrim())
    assert root.GetPrim().GetName() == "_2_foxes"
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies())
    skeleton = cache.GetSkelQuery(binding.GetSkeleton())
    (target,) = binding.GetSkinningTargets()
    for frame in (0, 3, len(motion) - 1):
        code = float(frame)
        points = target.GetPrim().GetAttribute("points").Get()
        assert target.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(code), points, code)
        expected = character.mesh.pose(motion.world()[frame]).numpy()
        np.testing.assert_allclose(np.array(points), expected, atol=1e-5 * character.height)
    assert not list(tmp_path.glob(".*"))


def test_the_checker_finds_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.usda"
    path.write_text('#usda 1.0\ndef Mesh "a"\n{\n}\n', "utf-8")
    assert any("defaultPrim" in error for error in usd_errors(path))


def test_a_skeleton_without_a_surface_passes_the_checker(fox: Character, tmp_path: Path) -> None:
    motion = on_grid(motion_from_clip(fox, fox.asset.clips[0]), 30.0)
    write_usd(replace(fox, mesh=None), motion, tmp_path / "bare.usda", fps=30.0)
    assert usd_errors(tmp_path / "bare.usda") == []


@pytest.mark.parametrize("scale", [1e5, 1e-9])
def test_a_scale_that_usd_cannot_hold_is_refused(fox: Character, tmp_path: Path, scale) -> None:
    """Its scales have 16 bits: they would be infinite, or nothing."""
    motion = motion_from_clip(fox, fox.asset.clips[0])
    sizes = motion.pose.scale.clone()
    sizes[:, 3] = scale
    large = replace(motion, pose=replace(motion.pose, scale=sizes))
    with pytest.raises(ValueError, match=re.escape(f"6e-8 to 65504, got {scale:.3g}")):
        write_usd(fox, large, tmp_path / "fox.usda", fps=30.0)
    assert not list(tmp_path.iterdir())
    sizes[1:, 3] = 1.0  # hidden for a while
    if scale < 1.0:
        write_usd(fox, large, tmp_path / "fox.usda", fps=30.0)
