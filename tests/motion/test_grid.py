"""Frame rates of clips, and motions on whole frames."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.motion.grid import find_fps, on_grid, without_loop_frame
from akd.motion.motion import Motion
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.zoo.gait.clips import make_clip
from tests.zoo.menagerie import creature


def walk(fps: float = 24.0) -> Motion:
    return make_clip(creature("fox"), "walk", fps=fps)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_the_rate_on_whose_frames_the_keys_lie(fps):
    motion = on_grid(walk(), fps)
    assert find_fps(motion) == fps
    assert find_fps(replace(motion, times=motion.times + 7.3)) == fps


def test_keys_off_any_frame_have_the_default_rate():
    motion = walk()
    odd = replace(motion, times=motion.times + 0.37 * motion.times**2)
    assert find_fps(odd) == 30.0


def test_too_many_frames_are_one_line():
    motion = walk()
    long = replace(motion, times=motion.times * 1e9)
    for resample in (on_grid, Motion.resample):
        with pytest.raises(ValueError, match="must have at most 4000000 poses of a joint"):
            resample(long, 24.0)


@pytest.mark.parametrize("fps", [24.0, 29.97, 30.0])
def test_keys_are_on_frames_and_the_ends_stay(fps):
    motion = replace(walk(), times=1.7 + walk().times * 0.9731)
    keyed = on_grid(motion, fps)
    frames = keyed.times.double() * fps
    torch.testing.assert_close(frames, torch.arange(len(keyed)).double(), atol=1e-4, rtol=0)
    assert abs(keyed.duration - motion.duration) <= 0.5 / fps + 1e-6
    torch.testing.assert_close(keyed.world()[[0, -1]], motion.world()[[0, -1]], atol=1e-5, rtol=0)


def test_a_motion_already_on_the_grid_keeps_its_poses():
    motion = on_grid(walk(), 30.0)
    again = on_grid(motion, 30.0)
    torch.testing.assert_close(again.world(), motion.world(), atol=1e-5, rtol=0)


def test_only_loops_lose_their_last_frame(tmp_path):
    write_creature(creature("fox"), [walk()], tmp_path / "fox.glb")
    fox = load_character(read_asset(tmp_path / "fox.glb"))
    rig = build_control_rig(fox)
    loop = on_grid(motion_from_clip(fox, fox.asset.clips[0]), 30.0)
    assert len(without_loop_frame(rig, loop, height=fox.height)) == len(loop) - 1
    part = loop.sample(loop.times[: len(loop) // 2])
    assert len(without_loop_frame(rig, part, height=fox.height)) == len(part)
