"""`make_clip`: a creature performs an action."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.pose import Pose
from akd.zoo.creature import Creature
from akd.zoo.gaits import plan_gait, pose_gait, with_period
from akd.zoo.legs import FootPath
from akd.zoo.puppet import Posed, Puppet
from akd.zoo.style import Style


def make_clip(
    creature: Creature, action: str, *, fps: float = 30.0, cycles: int = 2, style: Style | None = None
) -> Motion:
    posed, _, puppet = _perform(creature, action, fps, cycles, style or Style())
    return _to_motion(creature, puppet, posed, fps, action)


def foot_contacts(
    creature: Creature, action: str, *, fps: float = 30.0, cycles: int = 2, style: Style | None = None
) -> Bool[Tensor, "T feet"]:
    _, feet, _ = _perform(creature, action, fps, cycles, style or Style())
    return torch.from_numpy(np.stack([path.contact for path in feet], axis=1))


def _perform(
    creature: Creature, action: str, fps: float, cycles: int, style: Style
) -> tuple[Posed, list[FootPath], Puppet]:
    puppet = Puppet.of(creature)
    plan = plan_gait(creature, puppet, action, style)
    frames = max(int(round(cycles * plan.period * fps)), 2)
    plan = with_period(plan, creature, puppet, frames / (cycles * fps))
    phase = style.start + np.arange(frames + 1) / frames * cycles
    posed, feet = pose_gait(plan, creature, puppet, phase, crouch=style.crouch)
    return posed, feet, puppet


def _to_motion(creature: Creature, puppet: Puppet, posed: Posed, fps: float, name: str) -> Motion:
    frames, joints = posed.position.shape[:2]
    parents = np.asarray(puppet.parents)
    above = posed.rotation[:, parents.clip(0)]
    local = np.where((parents < 0)[:, None, None], posed.rotation,
                     np.swapaxes(above, -1, -2) @ posed.rotation)  # fmt: skip
    rotation = quaternion.make_continuous(quaternion.from_matrix(torch.from_numpy(local)))
    translation = creature.skeleton.rest.translation.double().expand(frames, -1, -1).clone()
    root, pelvis = puppet.index["root"], puppet.index["pelvis"]
    translation[:, root] = torch.from_numpy(posed.position[:, root])
    shift = posed.position[:, pelvis] - posed.position[:, root]
    inverse = np.swapaxes(posed.rotation[:, root], -1, -2)
    translation[:, pelvis] = torch.from_numpy((inverse @ shift[..., None])[..., 0])
    pose = Pose(translation.float(), rotation.float(), torch.ones(frames, joints, 3))
    times = torch.arange(frames, dtype=torch.float32) / fps
    return Motion(creature.skeleton, times, pose, name)
