"""On a GPU: images and gradients as on the CPU, and as gsplat's where that is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import torch

from akd.scene.compose import render_scene
from akd.scene.settings import SceneSettings, SceneStyle
from akd.splat.raster_call import RasterCall
from akd.splat.raster_gsplat import rasterize_gsplat
from tests.splat.splat_clouds import (
    LEAVES,
    Outcome,
    as_single,
    assert_same,
    differentiate,
    random_call,
    rasterize,
    reference,
)
from tests.splat.splat_parts import make_bones, make_camera, make_cloud

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def on_cuda(call: dict) -> dict:
    return {k: v.cuda() if isinstance(v, torch.Tensor) else v for k, v in call.items()}


def on_cpu(outcome: Outcome) -> Outcome:
    grads = {k: v.cpu() for k, v in outcome.gradients.items()}
    return Outcome(outcome.image.cpu(), outcome.transmittance.cpu(), grads)


def differentiate_on_cuda(function, call: dict) -> Outcome:
    def run(**leaves: object) -> tuple[torch.Tensor, torch.Tensor]:
        image, transmittance = function(**on_cuda(leaves))
        return image.cpu(), transmittance.cpu()

    return on_cpu(differentiate(run, call))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kind", [{}, {"depth": (-1.0, 1.5)}, {"side": 6.0, "scale": (0.1, 0.8)}])
def test_cuda_is_the_reference(kind: dict, antialias: bool) -> None:
    call = random_call(**kind) | {"antialias": antialias}
    fast = differentiate_on_cuda(rasterize, as_single(call))
    assert_same(fast, differentiate(reference, call), image=1e-4, gradient=2e-3)


@pytest.mark.skipif(importlib.util.find_spec("gsplat") is None, reason="needs gsplat")
@pytest.mark.parametrize("antialias", [False, True])
def test_pictures_equal_gsplats_and_gradients_point_the_same_way(antialias: bool) -> None:
    call = as_single(random_call(400, frames=3, width=96, height=80)) | {"antialias": antialias}

    def gsplat(**call: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return rasterize_gsplat(RasterCall(**call))

    ours = differentiate_on_cuda(rasterize, call)
    theirs = differentiate_on_cuda(gsplat, call)
    assert float((ours.image - theirs.image).abs().max()) < 1e-3
    for name in LEAVES:
        a, b = ours.gradients[name].flatten().double(), theirs.gradients[name].flatten().double()
        assert float(a @ b / (a.norm() * b.norm())) > 0.999, name


@pytest.mark.parametrize("style", list(SceneStyle))
def test_scenes_on_cuda_are_those_on_the_cpu(style: SceneStyle) -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    settings = SceneSettings(style=style)
    colours = torch.eye(3)
    expected = render_scene(cloud, bones, camera, settings=settings, bone_colours=colours)
    frames = render_scene(
        cloud.to("cuda"), bones.cuda(), camera.to("cuda"), settings=settings,
        bone_colours=colours.cuda(),
    )  # fmt: skip
    torch.testing.assert_close(frames.cpu(), expected, atol=2e-4, rtol=0.0)
