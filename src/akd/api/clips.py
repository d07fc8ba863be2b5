"""Clips of a character by name."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.base.constants import FPS_RANGE
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_labels, find_clip
from akd.motion.motion import Motion
from akd.rig.character import Character

Clip = Motion | str | None
"""A motion, the name of one of the file's clips, or None for the only one."""

_REACH = 1e5
"""Body heights from the origin: there, float32 numbers are 0.008 heights apart."""
_SCALE = 1e9
"""Of a joint: determinants of scales beyond it, or below its inverse, leave float32."""


def check_fps(fps: float | None) -> None:
    """Raise `ValueError` where a clip cannot have this frame rate; None is the default one."""
    low, high = FPS_RANGE
    if fps is not None and not low <= fps <= high:
        raise ValueError(f"fps must be from {low} to {high}, got {fps:g}")


def find_motion(character: Character, clip: Clip = None) -> Motion:
    """A clip of the character's file as a motion.

    Raises:
        ValueError: There is no such clip, or none was named and there are several.
    """
    if isinstance(clip, Motion):
        return clip
    clips = character.asset.clips
    if clip is None and len(clips) > 1:
        names = ", ".join(map(repr, clip_labels(clips)))
        raise ValueError(
            f"{character.asset.path}: has several clips, choose one with --clip: {names}"
        )
    found = find_clip(character, clip) if clip is not None or not clips else clips[0]
    return motion_from_clip(character, found)


def check_size(character: Character) -> None:
    """Raise `AssetError` where the body has no size, or none that can be computed with."""
    path = character.asset.path
    if not character.height > 0.0:
        raise AssetError(f"{path}: has a body without height")
    rest = character.skeleton.forward(character.skeleton.rest)
    if wrong := _out_of_range(character, rest[None]):
        raise AssetError(f"{path}: the body's {wrong}")


def check_reach(character: Character, motion: Motion) -> None:
    """Raise `ValueError` where the motion takes the body further than can be computed with."""
    if wrong := _out_of_range(character, motion.world()):
        raise ValueError(f"{character.asset.path}: clip {motion.name!r}: the body's {wrong}")


def _out_of_range(character: Character, world: Float[Tensor, "T J 4 4"]) -> str | None:
    """Which rule the driven joints break, with the value; None where float32 is enough for them."""
    rig = character.control_rig
    driven = world[:, [rig.root, *rig.joints]]
    far = driven[..., :3, 3].abs() / character.height
    if not (far < _REACH).all():
        return (
            f"joints must be within {_REACH:,.0f} body heights of the origin, got "
            f"{float(far.amax()):.3g}"
        )
    sizes = driven[..., :3, :3].abs().amax(dim=-2)
    fits = (sizes == 0.0) | ((sizes > 1.0 / _SCALE) & (sizes < _SCALE))
    if not fits.all():
        worst = float(sizes[~fits][0])
        return f"joints must be scaled by {1.0 / _SCALE:g} to {_SCALE:g}, got {worst:.3g}"
    return None
