"""Splats over the ground, in both styles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.scene.compose import render_scene
from akd.scene.ground import paint_ground
from akd.scene.roles import bone_roles, role_colour, role_colours, splat_role_colours
from akd.scene.settings import GroundSettings, SceneSettings, SceneStyle, ShadowSettings
from akd.splat.render import render_skinned
from akd.splat.shade import shade_by_view
from tests.splat.splat_parts import make_bones, make_camera, make_cloud

NO_SHADOW = SceneSettings(shadow=None, relief=0.0)


def test_frames_are_splats_over_ground() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    frames = render_scene(cloud, bones, camera, settings=NO_SHADOW)
    splats = render_skinned(cloud, bones, camera, ground=0.0)
    torch.testing.assert_close(frames, splats.over(paint_ground(camera, GroundSettings())))
    assert float(frames.min()) >= 0.0
    assert float(frames.max()) <= 1.0 + 1e-5


def test_a_shadow_darkens_the_ground_and_nothing_else() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    lit = render_scene(cloud, bones, camera, settings=NO_SHADOW)
    shaded = render_scene(cloud, bones, camera, settings=SceneSettings(relief=0.0))
    assert float((shaded - lit).max()) < 1e-5
    assert float((lit - shaded).max()) > 0.02


def test_relief_darkens_what_faces_away_from_the_light() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    flat = render_scene(cloud, bones, camera, settings=NO_SHADOW)
    shaped = render_scene(cloud, bones, camera, settings=replace(NO_SHADOW, relief=0.5))
    assert float((shaped - flat).max()) < 1e-5
    assert float((flat - shaped).max()) > 0.05


def test_without_ground_the_background_is_plain_and_nothing_is_hidden() -> None:
    cloud, camera = make_cloud(), make_camera()
    sunk = torch.eye(4).repeat(1, 3, 1, 1)
    sunk[..., 1, 3] = -5.0
    below = replace(
        camera, camera_from_world=camera.camera_from_world @ torch.linalg.inv(sunk[0, 0])
    )
    plain = SceneSettings(ground=None, plain_background=(0.1, 0.2, 0.3))
    frames = render_scene(cloud, sunk, below, settings=plain)
    assert float((frames - torch.tensor([0.1, 0.2, 0.3])).abs().max()) > 0.1
    hidden = render_scene(cloud, sunk, below, settings=NO_SHADOW)
    bare = paint_ground(below, GroundSettings())
    torch.testing.assert_close(hidden, bare)


def test_roles_need_colours_and_show_them() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    settings = SceneSettings(style=SceneStyle.ROLES, ground=None, plain_background=(0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="needs bone_colours"):
        render_scene(cloud, bones, camera, settings=settings)
    blue = torch.tensor([0.0, 0.0, 1.0]).expand(3, 3)
    frames = render_scene(cloud, bones, camera, settings=settings, bone_colours=blue)
    assert float(frames[..., :2].max()) == 0.0
    assert float(frames[..., 2].max()) > 0.2


def test_gradients_reach_the_bones_through_splats_and_shadow() -> None:
    cloud, camera = make_cloud(), make_camera()
    leaf = make_bones().requires_grad_()

    def gradient(settings: SceneSettings) -> torch.Tensor:
        loss = render_scene(cloud, leaf, camera, settings=settings).square().sum()
        return torch.autograd.grad(loss, leaf)[0]

    without = gradient(SceneSettings())
    through = gradient(SceneSettings(shadow=ShadowSettings(differentiable=True)))
    assert float(without.abs().max()) > 0.0
    assert float((through - without).norm() / without.norm()) > 1e-3
    assert torch.isfinite(through).all()


def test_sides_and_limbs_have_colours_of_their_own() -> None:
    limbs = [f"{s} {k} upper" for s in ("left", "right") for k in ("fore", "hind")]
    others = ["head", "tail 2", "spine 1"]
    colours = role_colours([*limbs, *others])
    apart = torch.cdist(colours, colours) + torch.eye(len(colours))
    assert float(apart.min()) > 0.3
    assert role_colour("left hind foot") != role_colour("left hind upper")
    assert role_colour("helper") == role_colour("anything else")


def test_roles_of_the_rig_are_understood() -> None:
    from akd.rig.roles.names import Side
    from akd.rig.roles.role import LimbKind, Part, Role

    role = Role(Part.UPPER, Side.LEFT, LimbKind.HIND)
    assert role_colour(str(role)) == role_colour("left hind upper")
    assert role_colour(str(role)) != role_colour("other")


def test_fingers_and_armour_take_the_role_of_what_carries_them(shared_assets: Path) -> None:
    from akd.asset.read import read_asset
    from akd.rig.character import load_character

    robot = load_character(
        read_asset(shared_assets / "threejs/RobotExpressive/RobotExpressive.glb")
    )
    assert robot.mesh is not None
    words = bone_roles(robot)
    assert len(words) == len(robot.mesh.skin.bone_joints)
    named = [w for w in words if w not in ("other", "helper")]
    alone = [str(robot.anatomy.roles[j]) for j in robot.mesh.skin.bone_joints.tolist()]
    assert len(named) > len([w for w in alone if w not in ("other", "helper")])


def test_a_splat_takes_the_colour_of_its_strongest_bone() -> None:
    cloud = make_cloud()
    table = torch.rand(3, 3, generator=torch.Generator().manual_seed(0))
    colours = splat_role_colours(cloud, table)
    for n in (0, 7, 59):
        strongest = int(cloud.bones[n, int(cloud.weights[n].argmax())])
        assert torch.equal(colours[n], table[strongest])


def test_shading_tells_near_from_far_and_above_from_below() -> None:
    cloud = make_cloud(2, bones=1)
    camera = make_camera(1)
    eye = camera.eye[0]
    towards = eye / eye.norm()
    up = torch.tensor([0.0, 1.0, 0.0])
    rest = torch.eye(4)[None, None]
    white = torch.ones(2, 3)

    def shades(means: torch.Tensor, normals: torch.Tensor) -> list[float]:
        placed = replace(cloud, means=means, normals=normals)
        out = shade_by_view(placed, rest, camera, white, middle=torch.zeros(1, 3), radius=1.0)
        return out[0, :, 0].tolist()

    near, far = shades(torch.stack((0.5 * towards, -0.5 * towards)), up.expand(2, 3))
    assert near > 1.1 * far
    above, below = shades(torch.zeros(2, 3), torch.stack((up, -up)))
    assert above > 1.3 * below > 0.0
