"""`make_clip`: a creature performs an action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.pose import Pose
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.creature import Creature
from akd.zoo.gait.acting import fit_act, pose_act
from akd.zoo.gait.gaits import plan_gait, pose_gait, with_period
from akd.zoo.gait.jumping import plan_leap, pose_jump
from akd.zoo.gait.legs import FootPath
from akd.zoo.gait.puppet import Posed, Puppet
from akd.zoo.gait.standing import pose_standing, standing_period
from akd.zoo.gait.style import Style
from akd.zoo.gait.undulation import pose_undulation, undulation_period
from akd.zoo.mesh.shapes import Array, Mask


@dataclass(frozen=True)
class Performance:
    """A creature performing an action."""

    motion: Motion
    """All joints, with the real travel on `root`."""
    contacts: Bool[Tensor, "T feet"]
    """Whether each of `creature.feet` is on the ground."""


def perform(
    creature: Creature,
    action: str,
    *,
    fps: float = 30.0,
    cycles: int = 2,
    frames: int | None = None,
    style: Style | None = None,
) -> Performance:
    """A creature performing an action, with what its feet do.

    `action` is one of `creature.actions`. The clip holds `cycles` strides (or jumps, gestures,
    rounds of standing) at `fps` frames per second and loops: its last frame is its first one, moved
    on. What ends in another pose (sitting or lying down, getting up) is done once and held. Strides
    are lengthened or shortened a little so that they fill whole frames. With `frames`, it is cut
    from as many cycles as are needed to have exactly that many frames, and need not loop. Where a
    foot is on the ground it does not move at all, but for rolling over its toes.
    """
    _check(creature, action, fps, cycles, frames)
    take = _Take(creature, Puppet.of(creature), action, fps, cycles, frames, style or Style())
    match action:
        case _ if action in acts_of(creature.parameters):
            posed, contact = _act(take)
        case "slither" | "swim":
            posed, contact = _undulate(take)
        case "stand":
            posed, contact = _stand(take)
        case "jump":
            posed, contact = _jump(take)
        case _:
            posed, contact = _travel(take)
    if frames is not None:
        posed, contact = Posed(posed.rotation[:frames], posed.position[:frames]), contact[:frames]
    motion = _to_motion(take, posed)
    return Performance(motion, torch.from_numpy(contact))


def make_clip(
    creature: Creature,
    action: str,
    *,
    fps: float = 30.0,
    cycles: int = 2,
    frames: int | None = None,
    style: Style | None = None,
) -> Motion:
    """The motion of `perform`: all joints, with the real travel on `root`."""
    return perform(creature, action, fps=fps, cycles=cycles, frames=frames, style=style).motion


def _check(creature: Creature, action: str, fps: float, cycles: int, frames: int | None) -> None:
    if action not in creature.actions:
        known = ", ".join(creature.actions)
        raise ValueError(f"action must be one of {known} for a {creature.name}; got {action!r}")
    if not fps > 0:
        raise ValueError(f"fps must be above zero, got {fps}")
    if cycles < 1:
        raise ValueError(f"cycles must be at least 1, got {cycles}")
    if frames is not None and frames < 1:
        raise ValueError(f"frames must be at least 1, got {frames}")


@dataclass(frozen=True)
class _Take:
    """Creature, action and style: the arguments of `perform`."""

    creature: Creature
    puppet: Puppet
    action: str
    fps: float
    cycles: int
    frames: int | None
    style: Style

    def phases(self, period: float, start: float) -> tuple[Array, float]:
        """Phases of whole cycles, frame by frame, and the cycle's duration that makes them fit."""
        cycles = self.cycles
        if self.frames is not None:
            cycles = max(int(np.ceil((self.frames - 1) / (period * self.fps) - 1e-9)), 1)
        count = max(round(cycles * period * self.fps), 2, (self.frames or 1) - 1)
        phase = start + cycles * np.arange(count + 1) / count
        return phase, count / (cycles * self.fps)


def _stand(take: _Take) -> tuple[Posed, Mask]:
    phase, _ = take.phases(standing_period(take.creature), take.style.start)
    posed, feet = pose_standing(take.creature, take.puppet, phase, take.style)
    return posed, _contact(feet, len(posed.position))


def _act(take: _Take) -> tuple[Posed, Mask]:
    act, period, speed = fit_act(take.creature, take.action)
    start = take.style.start if act.loop else 0.0
    phase, period = take.phases(period / take.style.speed, start)
    posed, feet = pose_act(take.creature, take.puppet, act, phase, take.style)
    posed.position[..., 2] += (take.style.speed * speed * period * (phase - start))[:, None]
    return posed, _contact(feet, len(posed.position))


def _travel(take: _Take) -> tuple[Posed, Mask]:
    plan = plan_gait(take.creature, take.puppet, take.action, take.style)
    phase, period = take.phases(plan.period, take.style.start)
    plan = with_period(plan, take.creature, take.puppet, period)
    posed, feet = pose_gait(plan, take.creature, take.puppet, phase)
    _start_at_origin(take.puppet, posed)
    return posed, _contact(feet, len(posed.position))


def _jump(take: _Take) -> tuple[Posed, Mask]:
    """The same jump several times, each beginning where the last one ended."""
    leap = plan_leap(take.creature, take.puppet, take.style, take.fps)
    count, cycles = round(leap.end * take.fps), take.cycles
    if take.frames is not None:
        cycles = max(-(-(take.frames - 1) // count), 1)
    times = np.arange(count + 1) / take.fps
    posed, feet = pose_jump(take.creature, take.puppet, leap, times, take.style)
    step = np.array((0.0, 0.0, leap.distance))
    again = [posed.position[1:] + n * step for n in range(1, cycles)]
    whole = Posed(
        np.concatenate([posed.rotation] + [posed.rotation[1:]] * (cycles - 1)),
        np.concatenate([posed.position, *again]),
    )
    contact = _contact(feet, len(posed.position))
    return whole, np.concatenate([contact] + [contact[1:]] * (cycles - 1))


def _undulate(take: _Take) -> tuple[Posed, Mask]:
    phase, _ = take.phases(undulation_period(take.creature) / take.style.speed, take.style.start)
    posed, _ = pose_undulation(take.creature, take.puppet, phase, take.style)
    return posed, np.zeros((len(phase), 0), bool)


def _contact(feet: list[FootPath], frames: int) -> Mask:
    """Which feet are on the ground, [T, feet]."""
    down = np.zeros((frames, len(feet)), bool)
    for number, path in enumerate(feet):
        down[:, number] = path.contact
    return down


def _start_at_origin(puppet: Puppet, posed: Posed) -> None:
    """Move and turn the whole clip so that the root starts at the origin, facing +Z."""
    root = puppet.index["root"]
    back = posed.rotation[0, root].T.copy()
    origin = posed.position[0, root].copy()
    posed.position[:] = (posed.position - origin) @ back.T
    posed.rotation[:] = back @ posed.rotation


def _to_motion(take: _Take, posed: Posed) -> Motion:
    """World rotations and positions as local transforms: bones keep their lengths exactly."""
    skeleton, puppet = take.creature.skeleton, take.puppet
    frames, joints = posed.position.shape[:2]
    parents = np.asarray(puppet.parents)
    above = np.swapaxes(posed.rotation[:, parents.clip(0)], -1, -2)
    local = np.where((parents < 0)[:, None, None], posed.rotation, above @ posed.rotation)
    rotation = quaternion.make_continuous(quaternion.from_matrix(torch.from_numpy(local)))
    translation = skeleton.rest.translation.double().expand(frames, -1, -1).clone()
    root, pelvis = puppet.index["root"], puppet.index["pelvis"]
    translation[:, root] = torch.from_numpy(posed.position[:, root])
    shift = posed.position[:, pelvis] - posed.position[:, root]
    inverse = np.swapaxes(posed.rotation[:, root], -1, -2)
    translation[:, pelvis] = torch.from_numpy((inverse @ shift[..., None])[..., 0])
    pose = Pose(translation.float(), rotation.float(), torch.ones(frames, joints, 3))
    times = torch.arange(frames, dtype=torch.float64) / take.fps
    return Motion(skeleton, times.float(), pose, take.action)
