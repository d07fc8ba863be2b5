"""`retarget`: any glTF or BVH clip on any character of the same body plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from akd.api.clips import Clip, check_fps, check_reach, check_size, find_motion
from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.export.gltf.clips import unique_name
from akd.export.settings import KeyChoice
from akd.motion.grid import find_fps
from akd.motion.library import without_calibration
from akd.motion.motion import Motion
from akd.motion.retargeting import retarget as retargeting
from akd.motion.retargeting.roles import correspond, unmatched_joints
from akd.rig.character import Character

_LONGEST = 6000
"""Frames of a clip: 200 seconds at 30 a second. Planting holds all of them in memory."""


@dataclass(frozen=True)
class Retargeted:
    """A clip on another character."""

    character: Character
    """Who performs it."""
    motion: Motion
    source: Character
    clip: Motion
    """What was retargeted."""
    unmatched: tuple[str, ...]
    """Joints of the source that move and have no counterpart in the target."""
    fps: float

    def save(self, path: str | Path, *, keys: KeyChoice = "every") -> Path:
        """Write the target's file with the clip added, as GLB; a BVH where the target is one.

        Args:
            path: The file to write, .glb or .bvh.
            keys: As in `Animation.save`.

        Returns:
            The path.

        Raises:
            ValueError: The path has another suffix.
            AssetError: A GLB was asked for and the target's file is no glTF.
        """
        path = Path(path)
        if path.suffix.lower() == ".bvh":
            scale = self.character.units.units_per_metre
            write_bvh(self.motion, path, fps=self.fps, scale=scale)
        elif path.suffix.lower() == ".glb":
            extras = {"retargeted_from": f"{self.source.asset.path.name}:{self.clip.name}"}
            write_motions(self.character, [self.motion], path, extras=extras, keys=keys)
        else:
            raise ValueError(f"out must end in .glb or .bvh, got {path.name!r}")
        return path


def retarget(
    source: Character | str | Path,
    target: Character | str | Path,
    clip: Clip = None,
    *,
    mapping: Mapping[str, str] | None = None,
    fps: float | None = None,
    plant: bool = True,
    travel: bool = False,
    name: str | None = None,
) -> Retargeted:
    """Transfer a clip to another character with the same body plan.

    Joints are matched by role. Limbs keep their directions, whatever the rest poses. The root moves
    in proportion to the legs, stance feet are planted, nothing sinks into the ground, and joints
    stay within their range of motion.

    Args:
        source: Character with the clip: what `load` returned, or a glTF or BVH file.
        target: The character to transfer it to.
        clip: A motion, or a clip's name; may be omitted if there is only one clip.
        mapping: Joints of the target by joints of the source, where matching by role is wrong.
        fps: Frames per second of the result; by default the rate of the clip's keys.
        plant: Plant the feet and keep joint limits; otherwise rotations are only copied.
        travel: Give a clip that runs in place the travel that its feet imply.
        name: Name of the new clip; by default that of the old one. It is numbered if the target has
            a clip of that name.

    Returns:
        The motion on the target. `save` writes the file.

    Raises:
        AssetError: A file cannot be read, or has no body.
        ValueError: There is no such clip, the bodies have different plans, or fewer than half of
            the joints that move have a counterpart.
    """
    check_fps(fps)
    source, target = loaded(source), loaded(target)
    for body in (source, target):
        if not len(body.control_rig):
            raise AssetError(f"{body.asset.path}: has no body that can be driven")
        check_size(body)
    motion = without_calibration(find_motion(source, clip))
    rate = fps or find_fps(motion)
    if motion.duration * rate > _LONGEST:
        raise ValueError(
            f"clip {motion.name!r} must have at most {_LONGEST} frames, got "
            f"{motion.duration:g} s at {rate:g} frames per second; give a lower fps or cut it"
        )
    check_reach(source, motion)
    moved = retargeting.retarget(
        source, motion, target, mapping=mapping, fps=rate, plant=plant, travel=travel
    )
    taken = {clip.name for clip in target.asset.clips}
    moved = replace(moved, name=unique_name(moved.name if name is None else name, taken))
    rig = source.control_rig
    matches = correspond(rig, target.control_rig, mapping)
    unmatched = unmatched_joints(rig, matches, rig.from_pose(motion.pose))
    return Retargeted(target, moved, source, motion, unmatched, rate)
