"""Controls of `benchmarks/distill.py`: what a result must beat, made by the same measures.

A condition that the sine gait meets is a sanity check, not a result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.gait import starting_period, starting_speed
from akd.motion.motion import Motion
from akd.prior.protocol import Condition
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.vocabulary import read_prompt
from akd.rig.character import Character
from akd.rig.control import ControlPose
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part
from benchmarks.distill_parts import Variant

SINE = "sine gait, no video model"
_SECONDS, _FPS = 3.0, 30.0
_SWING, _FOLD = math.radians(25.0), math.radians(30.0)
_STILL = 1.0
"""Seconds of a cycle where the words name no gait."""


class PriorAskedOtherwise(PriorTiny):
    """The tiny prior, asked for another action than the words say."""

    def condition(
        self, prompt: str, *, reference_image: Float[Tensor, "H W 3"] | None = None
    ) -> Condition:
        """Standing in place of a gait, walking in place of anything else."""
        words = read_prompt(prompt, self.tokens)
        other = "stand" if ACTIONS[words.action].is_cyclic else "walk"
        return self.condition_of(replace(words, action=other), reference_image=reference_image)


class PriorOfNoise(PriorTiny):
    """A prior that finds nothing but noise, another one for every time."""

    def predict(
        self, latents: Tensor, t: Float[Tensor, "B"], conditions: Sequence[Condition]
    ) -> Tensor:
        """Noise within the bounds of a video."""
        generator = torch.Generator().manual_seed(int(1e6 * float(t[0])))
        return 2.0 * torch.rand(latents.shape, generator=generator).to(latents) - 1.0


CONTROLS: dict[str, Variant] = {
    "asked for another action": Variant(kind=PriorAskedOtherwise),
    "prior of noise": Variant(kind=PriorOfNoise),
    "score = 0, no warm start": Variant(
        lambda s: replace(
            s, losses=replace(s.losses, score=0.0), warm_start=replace(s.warm_start, samples=0)
        )
    ),
    SINE: Variant(),
}
"""By name. True clips are in the rows of the cases."""


def sine_gait(character: Character, prompt: str) -> Motion:
    """Legs that swing as sines, left against right and fore against hind, at the natural speed."""
    rig = character.control_rig
    leg = leg_length(character, rig)
    period = starting_period(prompt, leg) or _STILL
    times = torch.arange(round(_SECONDS * _FPS) + 1) / _FPS
    angles = torch.zeros(len(times), len(rig), 3)
    for place, role in enumerate(rig.roles):
        if role.limb is None or role.part not in (Part.UPPER, Part.LOWER):
            continue
        phase = 0.5 * (role.side is Side.RIGHT) + 0.25 * (role.limb is LimbKind.FORE)
        wave = torch.sin(2.0 * math.pi * (times / period + phase))
        if role.part is Part.UPPER:
            angles[:, place, 0] = _SWING * wave
        else:
            angles[:, place, 0] = _FOLD * wave.clamp_min(0.0)
    speed = starting_speed(prompt, leg) if character.anatomy.legs else 0.0
    path = speed * times[:, None] * character.forward
    motion = Motion(
        rig.skeleton, times, rig.to_pose(ControlPose(path, torch.zeros(len(times), 3), angles)),
        "sine gait",
    )  # fmt: skip
    assert character.body_mesh is not None
    lowest = float(character.body_mesh.pose(motion.world())[..., 1].amin())
    raised = path - path.new_tensor((0.0, lowest, 0.0))
    pose = rig.to_pose(ControlPose(raised, torch.zeros(len(times), 3), angles))
    return replace(motion, pose=pose)
