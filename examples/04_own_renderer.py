"""Render with code of your own: any object with the method of `akd.Renderer`.

    python examples/04_own_renderer.py

Every Gaussian becomes a blurred point: a factor along x times one along y, summed by einsum.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
import tyro

import akd
from akd.presets import TINY
from akd.rig.skin import skin_points
from akd.splat.render import Rendering


@dataclass(frozen=True)
class PointRenderer:
    radius: float = 0.6  # pixels

    def render(self, cloud, world_from_mesh, camera, *, colours=None, ground=None, check=True):
        pose = camera.camera_from_world
        colours = cloud.flat_colours()[None] if colours is None else colours
        world = skin_points(world_from_mesh, cloud.means, cloud.bones, cloud.weights)
        seen = world @ pose[:, :3, :3].mT + pose[:, None, :3, 3]
        centre = seen[..., :2] / seen[..., 2:] * camera.focal[:, None] + camera.centre[:, None]
        pixels = (torch.arange(n) + 0.5 for n in (camera.width, camera.height))
        away = [(line - centre[..., i, None]) / self.radius for i, line in enumerate(pixels)]
        x, y = (torch.exp(-0.5 * distance.square()) for distance in away)
        if ground is not None:
            x = x * (world[..., 1] >= ground)[..., None]
        transmittance = torch.exp(-torch.einsum("tny,tnx->tyx", y, x))
        # Near points count more: a soft stand-in for sorting by depth.
        near = torch.softmax(-20.0 * seen[..., 2] / cloud.means.abs().amax(), dim=1)
        weighted = torch.cat((colours, torch.ones_like(colours[..., :1])), -1) * near[..., None]
        mixed = torch.einsum("tny,tnxc->tyxc", y, x[..., None] * weighted[:, :, None])
        colour = mixed[..., :3] / mixed[..., 3:].clamp_min(1e-12)
        return Rendering((1.0 - transmittance)[..., None] * colour, transmittance)


def main(out: Path = Path("out/own_renderer"), iterations: int = 150, weights: Path | None = None):
    clip = akd.animate(
        akd.zoo("fox"),
        "a fox walking",
        renderer=PointRenderer(),
        preset=replace(TINY, iterations=iterations),
        weights=weights,
        physics=False,
    )
    return clip.save(out)


if __name__ == "__main__":
    tyro.cli(main)
