"""What a direction names in the character's file, or in others: clips to keep, poses to meet."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import torch

from akd.api.clips import find_motion
from akd.api.loading import load
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import find_clip
from akd.motion.direction import LONGEST, Direction, direct
from akd.motion.key_poses import KeyPoses
from akd.motion.motion import Motion
from akd.motion.retargeting.retarget import retarget
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig


def direct_motion(
    character: Character, motion: Motion, direction: Direction, *, fps: float
) -> Motion:
    """`direct`, with the clips and poses that the direction names.

    Raises:
        ValueError: The direction contradicts itself or the motion, or names what is not there.
    """
    kept, keys = find_kept(character, direction), find_poses(character, direction)
    return direct(character, motion, direction, fps=fps, kept=kept, keys=keys)


def find_kept(character: Character, direction: Direction) -> dict[int, Motion]:
    """The motions that controls keep, by control.

    Raises:
        ValueError: An entry of `keep` names no clip or no driven joint.
    """
    kept: dict[int, Motion] = {}
    for text in direction.keep:
        name, colon, joints = text.rpartition(":")
        if not (colon and name and joints):
            raise ValueError(f"keep must be CLIP:JOINT,JOINT, got {text!r}")
        clip = motion_from_clip(character, find_clip(character, name))
        for joint in filter(None, (word.strip() for word in joints.split(","))):
            kept |= dict.fromkeys(_controls(character.control_rig, joint), clip)
    return kept


def _controls(rig: ControlRig, wanted: str) -> list[int]:
    """Controls by a joint's name, or by a role or the beginning of one: `left arm`, `tail`."""
    named = [c for c, joint in enumerate(rig.joints) if rig.skeleton.names[joint] == wanted]
    roles = [c for c, role in enumerate(rig.roles) if f"{role} ".startswith(f"{wanted} ")]
    if found := named or roles:
        return found
    known = ", ".join(rig.skeleton.names[joint] for joint in rig.joints)
    raise ValueError(f"keep must name driven joints or roles: {wanted!r} is none of {known}")


def find_poses(character: Character, direction: Direction) -> KeyPoses | None:
    """The poses to meet; None where there are none.

    Raises:
        ValueError: An entry of `keyframes` is not SECONDS=POSE, is later than the clip may last, or
            its pose cannot be found.
    """
    longest = LONGEST if direction.duration is None else direction.duration
    poses: dict[float, ControlPose] = {}
    for text in direction.keyframes:
        seconds, name, time = split_keyframe(text)
        if seconds > longest:
            raise ValueError(
                f"keyframe must be within the clip, from 0 to {longest:g} s, got {seconds:g}"
            )
        poses[seconds] = _pose(character, name, time)
    return KeyPoses.of(poses)


def split_keyframe(text: str) -> tuple[float, str, float]:
    """When a pose is to be met, the clip or file that it is of, and the time in that clip.

    Raises:
        ValueError: The text is not `SECONDS=CLIP`, `SECONDS=CLIP@TIME` or the same of a file.
    """
    seconds, _, pose = text.partition("=")
    name, at, time = pose.rpartition("@")
    if not at:
        name, time = pose, "0"
    when, moment = _seconds(seconds), _seconds(time)
    if when is None or not name:
        raise ValueError(
            f"keyframe must be SECONDS=POSE, a pose being CLIP@TIME or a file, got {text!r}"
        )
    if moment is None:
        raise ValueError(f"keyframe must end in @SECONDS, got {text!r}")
    return when, name, moment


def with_keyframe_file(text: str, path: Path) -> str:
    """A keyframe with another path in place of its file."""
    seconds, _, time = split_keyframe(text)
    return f"{seconds!r}={path}@{time!r}"


def _seconds(text: str) -> float | None:
    """A time from zero on; None where the text is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0.0 <= found < math.inf else None


def _pose(character: Character, name: str, moment: float) -> ControlPose:
    """The frame of a clip of the character's file, or of the clip of another file."""
    source = character
    if Path(name).is_file():
        source = load(Path(name))
        motion = find_motion(source)
    else:
        motion = motion_from_clip(character, find_clip(character, name))
    start = motion.times[0]
    frame = replace(motion.sample(start + torch.tensor((moment,))), times=torch.zeros(1))
    if source.skeleton.names != character.skeleton.names:
        frame = retarget(source, frame, character, plant=False)
    return character.control_rig.from_pose(frame.pose).rigid()[0]
