"""Distil from a video model of your own: any object with the methods of `akd.VideoPrior`.

This one knows one video by heart, a fox's walk. Run it: python examples/02_own_prior.py
"""

from dataclasses import replace
from pathlib import Path

import torch
import tyro

import akd
from akd.export.creature import write_creature
from akd.presets import TINY
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.zoo import build_creature, make_clip


class OneVideo:  # in pixels; your network goes into `encode`, `decode` and `predict`
    name, style, fps, bound = "one video", SceneStyle.ROLES, 12.0, None
    takes_reference_image, device = False, torch.device("cpu")

    def __init__(self, video):
        self.video, (self.frames, self.height, self.width, _) = video, video.shape

    def condition(self, prompt, *, reference_image=None):
        return akd.Condition(text=torch.zeros(1, 1))

    unconditioned = condition

    def encode(self, video):
        return video

    decode = encode

    def signal(self, t):
        return torch.cos(0.5 * torch.pi * t), torch.sin(0.5 * torch.pi * t)

    def add_noise(self, latents, noise, t):
        alpha, sigma = (x[:, None, None, None, None] for x in self.signal(t))
        return alpha * latents + sigma * noise

    def predict(self, latents, t, conditions):
        return self.video.expand_as(latents)


def main(out: Path = Path("out/own_prior"), iterations: int = 150, size: int = 64) -> list[Path]:
    creature, file = build_creature("fox"), out / "fox.glb"
    write_creature(creature, [], file)
    fox, joints = akd.load(file), make_clip(creature, "walk", fps=12.0, frames=16).world()
    stage = Stage.of(fox, style=OneVideo.style, size=(size, size), splats=TINY.splats)
    prior = OneVideo(stage.show(fox.mesh.skin.bone_transforms(joints)))
    warm_start = replace(TINY.warm_start, samples=1)
    preset = replace(TINY, iterations=iterations, camera_jitter=0.0, warm_start=warm_start)
    return akd.animate(fox, "a fox walking", prior=prior, preset=preset, physics=False).save(out)


if __name__ == "__main__":
    tyro.cli(main)
