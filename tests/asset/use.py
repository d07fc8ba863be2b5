"""What commands do with an asset after reading it: all of it must hold the limits of reading."""

import io
import json
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from akd.asset.asset import Asset, AssetError
from akd.asset.gltf.encode import encode
from akd.asset.read import read_asset
from akd.export.amass import write_amass
from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.export.creature import write_creature
from akd.export.gltf.bake import bake_clips
from akd.export.gltf.write import write_glb, write_gltf
from akd.export.qpos import write_qpos
from akd.export.splat_frames import write_splat_frames
from akd.export.usd import write_usd
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.report.describe import describe, describe_text
from akd.rig.character import Character, load_character
from akd.zoo import build_creature, make_clip

FOLDER = Path(tempfile.mkdtemp())
SECONDS = 10
"""Of processor time, for reading and for each step after it."""
FPS = 24.0
_REFUSED = ("must", "needs", "increase", "no body", "no mesh", "no node", "nothing", "too long")
"""Words of which one is in every message that refuses to write a motion."""


def warm_up() -> None:
    """Import and compile what the steps need, which the limits are not about."""
    path = FOLDER / "zoo.glb"
    man = build_creature("man", vertices=600)
    write_creature(man, [make_clip(man, "walk", cycles=1)], path)
    use(read_asset(path))


def use(asset: Asset) -> None:
    """Load the character, describe it, resample its first clips, and write them in every format.

    `ValueError` is allowed where the documentation says so: a motion too long to be resampled, no
    joint to write, a body that a format is not for.
    """
    begin()
    character = load_character(asset)
    begin()
    json.dumps(describe(character), allow_nan=False)
    text = describe_text(character)
    assert not any(c < " " and c != "\n" for c in text), "control characters reach the terminal"
    print(text, file=io.StringIO())
    if asset.splats is None or asset.meshes:
        begin()
        write_gltf(asset.document or encode(asset), FOLDER / "whole.gltf")
    if asset.document is not None:
        attempt(lambda: write_glb(bake_clips(asset, FPS), FOLDER / "baked.glb"))
    for clip in asset.clips[:2]:
        begin()
        motion = motion_from_clip(character, clip)
        try:
            motion = motion.resample(FPS)
        except ValueError as error:
            assert "must have at most" in str(error) or "increase" in str(error), error
            continue
        write(character, motion)


def write(character: Character, motion: Motion) -> None:
    """Write a motion in every format that takes one; clouds only of its first frames."""
    few = motion.sample(motion.times[:2])
    attempt(lambda: write_bvh(motion, FOLDER / "motion.bvh"))
    attempt(lambda: write_usd(character, motion, FOLDER / "motion.usda", fps=FPS))
    attempt(lambda: write_amass(character, motion, FOLDER / "motion.npz", fps=FPS))
    attempt(lambda: write_qpos(character, motion, FOLDER / "motion.csv", fps=FPS))
    attempt(lambda: write_splat_frames(character, few, FOLDER / "x.ply", fps=FPS, splats=500))
    if character.asset.document is not None:
        attempt(lambda: write_motions(character, [motion], FOLDER / "motion.glb"))
        attempt(lambda: write_motions(character, [motion], FOLDER / "few.glb", keys="reduced"))


def attempt(step: Callable[[], object]) -> None:
    """A step that may refuse in one line."""
    begin()
    try:
        step()
    except (ValueError, AssetError) as error:
        assert any(word in str(error) for word in _REFUSED), error
        assert "\n" not in str(error)


def begin() -> None:
    """Each step has the time that reading has; none is counted where nobody limits it."""
    if signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)


torch.set_num_threads(1)
