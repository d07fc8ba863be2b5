"""Motions on whole frames: the frame rate of a clip, and resampling to one."""

from __future__ import annotations

from dataclasses import replace

import torch

from akd.motion.loop import loop_gap
from akd.motion.motion import Motion
from akd.rig.control import ControlRig

CLIP_FPS = 30.0
"""Frame rate of clips for which no other was asked."""
_RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0, 240.0)
OFF_FRAME = 0.1
"""A key this far from a frame, in frames, is off it: BVH rounds its frame times."""
_CLOSED = 0.005
"""A motion is a loop where its last pose is this near to its first, in body heights."""


def find_fps(motion: Motion) -> float:
    """The lowest customary frame rate on whose frames all keys lie; 30 where there is none."""
    seconds = motion.times - motion.times[0]
    for fps in _RATES:
        frames = seconds * fps
        if float((frames - frames.round()).abs().max()) <= OFF_FRAME:
            return fps
    return CLIP_FPS


def on_grid(motion: Motion, fps: float) -> Motion:
    """The motion with a key on every frame, from frame 0 on.

    It is retimed to a whole number of frames, by half a frame at most, so that the last pose is
    kept and a loop stays closed.

    Raises:
        ValueError: There would be too many frames.
    """
    motion.check_frames(fps)
    count = round(motion.duration * fps)
    at = torch.linspace(0.0, motion.duration, count + 1, dtype=torch.float64) if count else 0.0
    start = motion.times[:1].double()
    frames = motion.sample(start + at)
    return replace(frames, times=(torch.arange(count + 1, dtype=torch.float64) / fps).float())


def without_loop_frame(rig: ControlRig, motion: Motion, *, height: float) -> Motion:
    """A loop without its last frame, which repeats the first; any other motion as it is."""
    if len(motion) < 3 or loop_gap(rig, motion, height=height) > _CLOSED:
        return motion
    return motion.sample(motion.times[:-1])
