"""Splats cover as much of an image as the surface that they stand for."""

import pytest
import torch

from akd.scene.coverage import VIEWS, narrowed
from akd.scene.follow import follow
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.splat.views import MeshViews


@pytest.fixture(scope="module")
def stage(fox):
    return Stage.of(fox, style=SceneStyle.TEXTURED, size=(64, 64), splats=1500, ground=False)


@pytest.mark.parametrize("pixels", [32, 64])
def test_a_silhouette_is_as_wide_as_the_mesh(stage, pixels):
    mesh = stage.character.mesh
    low, high = mesh.vertices.amin(0, keepdim=True), mesh.vertices.amax(0, keepdim=True)
    exponent = stage.coverage_exponent(pixels / float((high - low).norm()))
    still = torch.eye(4).expand(1, len(mesh.skin.bone_joints), 4, 4)
    raw, mended, areas = [], [], torch.zeros(3)
    for view in VIEWS:
        camera = follow(
            low, high, view, forward=stage.character.forward, width=pixels, height=pixels
        )
        true = MeshViews(mesh).render(camera)[1]
        seen = stage.renderer.render(stage.cloud, still, camera)
        _, light = narrowed(seen.colour, seen.transmittance, exponent)
        raw.append(float((1.0 - seen.transmittance - true).square().mean()))
        mended.append(float((1.0 - light - true).square().mean()))
        areas += torch.stack([x.sum() for x in (true, 1.0 - light, 1.0 - seen.transmittance)])
    # The exponent is cut, for the sake of thin limbs.
    assert float(areas[1] / areas[0]) == pytest.approx(1.0, abs=0.08)
    assert float(areas[2] / areas[0]) > 1.1
    assert sum(mended) < 0.3 * sum(raw)


def test_colours_are_narrowed_with_the_coverage():
    colour, light = torch.tensor([[0.4, 0.2, 0.0]]), torch.tensor([0.5])
    thin, through = narrowed(colour, light, 2.0)
    torch.testing.assert_close(thin, 0.5 * colour)
    torch.testing.assert_close(through, torch.tensor([0.75]))
    assert narrowed(colour, light, 1.0)[1] is light


def test_a_gradient_is_finite_where_nothing_is_seen():
    light = torch.ones(3, requires_grad=True)
    colour = torch.zeros(3, 3, requires_grad=True)
    thin, through = narrowed(colour, light, 1.5)
    (thin.sum() + through.sum()).backward()
    assert light.grad is not None
    assert bool(light.grad.isfinite().all())
