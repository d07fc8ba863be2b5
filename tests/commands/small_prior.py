"""A tiny prior that is tiny indeed, with random weights, and creatures to try commands on."""

from pathlib import Path

import torch

from akd.export.creature import write_creature
from akd.prior.tiny.load import save_tiny
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.settings import TinySettings
from akd.zoo import build_creature, make_clip

QUICK = (
    "--set", "splats=200", "checkpoint_every=2", "warm_start.samples=2", "warm_start.steps=2",
    "warm_start.trial=2", "warm_start.iterations=3", "parametrization.knots=4",
)  # fmt: skip


def write_weights(folder: Path, *, frames: int = 4) -> Path:
    torch.manual_seed(5)
    settings = TinySettings(
        frames=frames, width=16, height=16, patch=8, frame_time=0.6, fps=8.0, channels=24,
        layers=1, heads=2, text_channels=8, refine_channels=4,
    )  # fmt: skip
    network = TinyNetwork(settings)
    with torch.no_grad():
        for value in network.parameters():
            value.normal_(0.0, 0.05)
    save_tiny(network, folder)
    return folder


def write_fox(path: Path) -> Path:
    write_creature(build_creature("fox", vertices=600), [], path)
    return path


def write_retargeting(folder: Path) -> Path:
    """A file of jobs: two clips of a man on two other bodies, and one on a dog, which fails."""
    man = build_creature("man", vertices=600)
    clips = [make_clip(man, action, cycles=1) for action in ("walk", "stand")]
    write_creature(man, clips, folder / "man.glb")
    for species in ("child", "woman", "dog"):
        write_creature(build_creature(species, vertices=600), [], folder / f"{species}.glb")
    path = folder / "retargeting.toml"
    path.write_text(
        """
        [options]
        task = "retarget"
        plant = false
        [[product]]
        clips = ["man.glb:walk", "man.glb:stand"]
        targets = ["child.glb", "woman.glb"]
        [[job]]
        clip = "man.glb:walk"
        target = "dog.glb"
        """
    )
    return path
