"""The stage: who is on it looks as in its file, and the camera keeps its distance."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from akd.api.poses import zoo_character
from akd.asset.read import read_asset
from akd.fit.photometric import chroma, photometric_loss, pyramid
from akd.rig.character import load_character
from akd.scene.follow import SMOOTH, bounding_boxes, smooth_path
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats
from tests.distill.fox import Screen, fox_stage, stage_for, standing


def test_textures_are_on_stage(shared_assets):
    fox = load_character(read_asset(shared_assets / "khronos/Fox/glTF-Binary/Fox.glb"))
    stage = stage_for(fox, Screen(), splats=800)
    assert fox.mesh is not None
    painted = surface_splats(fox.mesh, 800, paint=Paint.of(fox)).flat_colours()
    blended = surface_splats(fox.mesh, 800).flat_colours()
    torch.testing.assert_close(stage.cloud.flat_colours(), painted)
    # The colours at the vertices are those of the texture there, so that most splats are alike.
    assert float((blended - painted).abs().amax(1).quantile(0.9)) > 0.1


def test_props_decide_neither_the_ground_nor_the_camera():
    fox = zoo_character("fox", seed=0)
    mesh = fox.mesh
    assert mesh is not None
    # As if all below a third of the height were a prop that hangs there.
    body = mesh.only(mesh.vertices[:, 1] > mesh.vertices[:, 1].min() + 0.33 * fox.height)
    stage = stage_for(replace(fox, body_mesh=body), Screen(), splats=800)
    points = body.pose(fox.control_rig.neutral_world)
    assert stage.lift == pytest.approx(-float(points[:, 1].min()), abs=0.02 * fox.height)
    low, high = stage.neutral_box
    assert float(low[0, 1]) == pytest.approx(0.0, abs=1e-5)
    assert float(high[0, 1]) < 0.7 * fox.height


def test_a_stride_makes_the_body_look_no_smaller(fox):
    """The camera's distance is that of the neutral pose: a head stays as large as it was."""
    stage = fox_stage(fox, splats=400)
    curves = standing(fox)
    colour = stage.bone_colours
    yellow = (colour - torch.tensor([0.95, 0.90, 0.45])).abs().amax(1) < 1e-4
    assert bool(yellow.any())

    def head() -> float:
        with torch.no_grad():
            controls = curves.controls()
            video = stage.show(stage.transforms(controls))
        red, green, blue = video[0].unbind(-1)
        return float(((red > blue + 0.15) & (green > blue + 0.15)).float().sum())

    before = head()
    with torch.no_grad():
        for i, role in enumerate(fox.control_rig.roles):
            if role.limb is not None and role.part.value == "upper":
                curves.angles[:, i, 0] = 0.8 if role.limb.value == "hind" else -0.8
    spread = head()
    assert before > 8
    assert abs(spread - before) <= 0.15 * before


def test_a_video_at_half_size_shows_the_same_with_a_quarter_of_the_detail(fox):
    stage = fox_stage(fox, splats=400)
    curves = standing(fox)
    controls = curves.controls()
    bones = stage.transforms(controls)
    fine = stage.show(bones)
    coarse = stage.show(bones, half_size=True)
    assert coarse.shape == fine.shape
    blocks = fine.detach().movedim(-1, 1)
    few = torch.nn.functional.avg_pool2d(blocks, 2)
    blurred = torch.nn.functional.interpolate(few, scale_factor=2, mode="bilinear").movedim(1, -1)
    assert float((coarse - blurred).detach().abs().mean()) < 0.02
    assert float((coarse - fine).detach().abs().mean()) > 0.005
    coarse.square().sum().backward()
    assert curves.angles.grad is not None
    assert float(curves.angles.grad.abs().amax()) > 0.0


def test_videos_of_a_batch_are_those_of_each_alone(fox):
    stage = fox_stage(fox, splats=400)
    posed = [standing(fox, speed=speed).pose(stage) for speed in (0.2, 1.5)]
    turns = (0.3, -0.2)
    bones = torch.stack([one.transforms for one in posed])
    videos, images = stage.show(bones, turns=turns), stage.reference_images(turns)
    for k, one in enumerate(posed):
        alone = stage.show(one.transforms, turns=turns[k : k + 1])
        torch.testing.assert_close(videos[k], alone, atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(images[k], stage.reference_images(turns[k : k + 1])[0])
    assert float((images[0] - images[1]).abs().amax()) > 0.1


def test_the_gradient_knows_that_the_camera_follows_a_body_that_leans():
    man = zoo_character("man", 0)
    stage, curves = stage_for(man, Screen(), splats=400), standing(man)
    column = torch.linspace(-1.0, 1.0, stage.size[0])

    def place(pitch: Tensor) -> Tensor:
        """Where the coloured limbs are, from the left to the right of the image."""
        root = torch.zeros_like(curves.root)
        root[:, 4] = 1.0
        leaning = replace(curves, root=root * pitch).pose(stage)
        colour = chroma(stage.show(leaning.transforms)).square().sum(-1)
        return (colour * column).sum() / colour.sum()

    for at in (-0.3, 0.3):
        pitch = torch.tensor(at, requires_grad=True)
        (slope,) = torch.autograd.grad(place(pitch), pitch)
        with torch.no_grad():
            rise = place(torch.tensor(at + 0.03)) - place(torch.tensor(at - 0.03))
        # Edges of splats cost a tenth or two; a camera that was not followed cost nine.
        assert float(slope) == pytest.approx(float(rise) / 0.06, rel=0.25)


def test_the_gradient_knows_that_the_camera_follows(fox):
    """A raised head moves the centre of the body, and with it the camera and all that it shows."""
    stage = fox_stage(fox, splats=400)
    with torch.no_grad():
        still = standing(fox).pose(stage)
        wanted = pyramid(stage.show(still.transforms))
    curves = standing(fox)
    neck = [str(role) for role in fox.control_rig.roles].index("neck 1")

    def loss() -> torch.Tensor:
        posed = curves.pose(stage)
        return photometric_loss(stage.show(posed.transforms), wanted)

    def loss_at(angle: float) -> float:
        with torch.no_grad():
            curves.angles[:, neck, 0] = angle
            return float(loss())

    difference = loss_at(0.32) - loss_at(0.28)
    loss_at(0.3)
    loss().backward()
    assert curves.angles.grad is not None
    predicted = float(curves.angles.grad[:, neck, 0].sum())
    assert predicted == pytest.approx(difference / 0.04, rel=0.1)


def test_the_camera_follows_the_box_of_each_frame_as_in_training_videos(fox):
    stage, curves = fox_stage(fox, splats=400), standing(fox)
    with torch.no_grad():
        curves.angles[len(curves.angles) // 2 :, :, 0] = 0.6
        posed = curves.pose(stage)
        low, high = bounding_boxes(stage.body_cloud, posed.transforms)
        _, centres = stage._followed(posed.transforms)
    offset = 0.5 * (low + high) - posed.path
    assert float((offset.amax(0) - offset.amin(0)).amax()) > 0.02 * fox.height
    torch.testing.assert_close(centres[0], smooth_path(0.5 * (low + high), SMOOTH))


def test_a_body_shown_alone_is_the_body_of_the_video(fox):
    """Where the splats hide what is behind them nothing is different, frame by frame."""
    stage = fox_stage(fox, splats=400)
    curves = standing(fox, period=0.6)
    with torch.no_grad():
        curves.angles[1, :, 0] = 0.3
        posed = curves.pose(stage)
        whole = stage.show(posed.transforms)
        bones = posed.transforms[None]
        alone = stage.show_body(bones)[0]
        some = stage.show_body(bones, frames=torch.tensor([1, 5]))[0]
    body = chroma(whole).abs().amax(-1) > 0.25
    assert float(body.float().mean()) > 0.02
    assert float((whole - alone)[body].abs().quantile(0.9)) < 0.02
    # Hues are all that is left: what is behind the body is grey in both.
    assert float((chroma(whole) - chroma(alone)).abs().mean()) < 0.01
    # Depth is shaded by the largest body among the frames that are shown.
    assert float((some - alone[[1, 5]]).abs().max()) < 0.1
    assert float((some - alone[[0, 4]]).abs().max()) > 0.2


def test_a_stage_of_another_size_shows_the_same(fox):
    stage = fox_stage(fox, splats=400)
    with torch.no_grad():
        posed = standing(fox).pose(stage)
        fine = stage.show_body(posed.transforms[None])[0, 0]
        small = stage.resized(24, 24)
        coarse = small.show_body(posed.transforms[None])[0, 0]
    assert coarse.shape == (24, 24, 3)
    few = torch.nn.functional.avg_pool2d(fine.movedim(-1, 0)[None], 2)[0].movedim(0, -1)
    assert float((coarse - few).abs().mean()) < 0.03
