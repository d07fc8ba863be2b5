"""`ground`: physics tracking of a motion of any character."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from akd.base.files import write_arrays, write_json
from akd.motion.actions import ACTIONS
from akd.motion.loop import repeat_over, rounds_in
from akd.motion.motion import Motion
from akd.motion.seam import slow_seam
from akd.physics.assess import GroundContact, add_travel, assess, implied_travel
from akd.physics.bodies import CharacterBody, build_body
from akd.physics.body import Body
from akd.physics.cycle import close_cycle, cycle_gap, is_cycle
from akd.physics.planting import plant_result
from akd.physics.settings import SimulatorSettings, TrackingSettings, stays, walks, world_for
from akd.physics.simulator import WarpSimulator
from akd.physics.skin_lift import lift_skin
from akd.physics.target import TargetMotion, starts_apart
from akd.physics.tracking import MakeSimulator, Progress, Tracking, track
from akd.rig.control import ControlPose, ControlRig
from akd.rig.mesh import SkinnedMesh


@dataclass(frozen=True)
class Grounded:
    """A motion that obeys physics, and how it came about."""

    motion: Motion
    """On the same skeleton, at a fixed frame rate."""
    controls: ControlPose
    character: CharacterBody
    tracking: Tracking
    travel: Float[Tensor, "3"] | None
    """Velocity (m/s) that was given to a clip that walked on the spot."""
    clip: TargetMotion
    """The clip at the result's frame rate, with its travel, where it was above the ground."""
    first_left_out: bool
    """The clip's first frame was a calibration pose (a T-pose), and is not in the result."""
    cycle_gap: float | None
    """Mean distance of the parts between the repetitions of a cycle that were simulated, in body
    heights, before one was faded into the other; None for a clip that is no cycle."""
    before: GroundContact
    """Of the clip, before it was moved to the ground and its feet were planted."""
    after: GroundContact
    cycle: Motion | None = None
    """What `motion` repeats; None for a clip that is no cycle."""
    repeats: int = 1
    """How often `motion` goes through the cycle that was simulated."""

    def repeated(self, times: Float[Tensor, "F"]) -> Grounded:
        """The same with its cycle over and over, at the times of a longer clip that repeats it."""
        rig, repeats = self.character.rig, rounds_in(self.motion, times)
        motion = repeat_over(rig, self.motion, times)
        # Between the frames of the cycle, steps are others, and so is their 90th percentile.
        pose = slow_seam(rig, rig.from_pose(motion.pose), height=self.character.body.height)
        motion = replace(motion, pose=rig.to_pose(pose))
        return replace(self, motion=motion, controls=pose, repeats=repeats)

    def summary(self) -> dict[str, object]:
        """What a report says, as plain values."""
        work, assist_work = self.tracking.forces.joint_work, self.tracking.forces.assist_work
        return {
            "before": asdict(self.before),
            "after": asdict(self.after),
            "tracking_error": self.tracking.error,
            "lift": self.tracking.lift,
            "stance": self.stance_shares(),
            "first_frame_left_out": self.first_left_out,
            "cycle_gap": self.cycle_gap,
            "travel": None if self.travel is None else self.travel.tolist(),
            "joint_work": float(work),
            "assist_work": float(assist_work),
            "assist_share": float(assist_work / work.clamp_min(1e-12)),
            "step": self.tracking.parameters.step,
            "iterations": len(self.tracking.losses) - 1,
            "retries": self.tracking.retries,
            "failed": self.tracking.failed,
            "welded": list(self.character.welded),
            "mass": self.character.body.mass,
            "height": self.character.body.height,
        }

    def stance_shares(self) -> dict[str, float]:
        """Share of the time that each foot was found to stand in the clip, by name."""
        shares = self.tracking.stance.double().mean(0)
        names = self.character.body.names
        return {names[i]: float(shares[i]) for i in self.character.feet.nonzero().flatten()}

    def save(self, folder: Path | str) -> None:
        """Write `physics.npz` (states, targets, torques, contact forces) and `physics.json`."""
        folder = Path(folder)
        write_arrays(folder / "physics.npz", tracking_arrays(self.character.body, self.tracking))
        write_json(folder / "physics.json", {"format": 1, **self.summary()})


def ground(
    rig: ControlRig,
    mesh: SkinnedMesh | None,
    motion: Motion,
    *,
    fps: float = 30.0,
    travel: bool = True,
    action: str | None = None,
    settings: TrackingSettings | None = None,
    world: SimulatorSettings | None = None,
    make_simulator: MakeSimulator = WarpSimulator,
    progress: Progress | None = None,
) -> Grounded:
    """Find the nearest motion to a given one that a body with servos in its joints can make.

    Args:
        rig: The character's control rig.
        mesh: Its skin, to which cuboids are fitted; None for a bare skeleton.
        motion: What to follow, on the rig's skeleton.
        fps: Frame rate of the result.
        travel: Give a clip that walks on the spot the travel its stance feet imply.
        action: What is done in it, one of `ACTIONS`, where that is known. What has an end is no
            cycle, though it may end in its first pose; in what stays in its place, the feet of the
            result are planted too; a fast walk is not taken for a run.
        settings: How controls are searched for.
        world: What the simulated world is made of; `STEADY` for an action that is no gait.
        make_simulator: The simulator; `WarpSimulator` unless another is asked for.
        progress: Called with iteration, number of iterations and loss.
    """
    if len(motion.times) < 2:
        raise ValueError(f"a motion to track needs at least 2 frames, got {len(motion.times)}")
    character = build_body(rig, mesh)
    check_feet(character)
    body = character.body
    may_loop = action is None or not ACTIONS[action].one_off
    frames, apart, cyclic = _whole_frames(character, motion, fps, may_loop=may_loop)
    pose = rig.from_pose(frames.pose)
    target = replace(character.target_motion(pose, fps), cyclic=cyclic)
    in_place, velocity = stays(action), None
    if travel and not in_place:
        velocity = implied_travel(body, character.feet, target)
    if velocity is not None:
        target = add_travel(target, velocity)
    tracking = track(
        body, target, feet=character.feet, walks=walks(action), settings=settings,
        world=world or world_for(action), make_simulator=make_simulator, progress=progress,
    )  # fmt: skip
    s = tracking.states
    made = TargetMotion(s.position, s.rotation, s.angles, fps)
    gap = None
    if cyclic:
        gap = cycle_gap(body, made, target)
        made = close_cycle(made, target)
    if settings is None or settings.plant:
        made = plant_result(body, character.feet, made, tracking.stance)
    controls = character.control_pose(made, pose)
    if cyclic:
        controls = slow_seam(rig, controls, height=body.height)
    if mesh is not None:
        controls = lift_skin(rig, mesh, controls, height=body.height, cyclic=cyclic)
    made = character.target_motion(controls, fps)
    motion = replace(frames, pose=rig.to_pose(controls))
    return Grounded(
        motion=motion,
        controls=controls,
        character=character,
        tracking=tracking,
        travel=velocity,
        clip=target,
        first_left_out=apart,
        cycle_gap=gap,
        cycle=motion if cyclic else None,
        before=assess(body, character.feet, target),
        after=assess(body, character.feet, made),
    )


def _whole_frames(
    character: CharacterBody, motion: Motion, fps: float, *, may_loop: bool
) -> tuple[Motion, bool, bool]:
    """The motion on whole frames from 0; whether a calibration pose was left out; whether it is a
    cycle, which is stretched by half a frame at most to end on a whole one."""

    def target(frames: Motion) -> TargetMotion:
        return character.target_motion(character.rig.from_pose(frames.pose), fps)

    for clip in (motion, _with_first_frame_last(motion)) if may_loop else ():
        count = max(1, round(clip.duration * fps))
        spread = clip.sample(torch.linspace(0, clip.duration, count + 1) + clip.times[0])
        clock = torch.arange(count + 1, dtype=motion.times.dtype) / fps
        if is_cycle(character.body, target(spread)):
            return replace(spread, times=clock), False, True
    frames = motion.resample(fps)
    apart = starts_apart(character.body, target(frames))
    if apart:
        frames = frames.sample(frames.times[1:])
    times = torch.arange(len(frames), dtype=motion.times.dtype) / fps
    return replace(frames, times=times), apart, False


def _with_first_frame_last(motion: Motion) -> Motion:
    """The motion with its first frame again after its last."""
    if len(motion) < 2:
        return motion
    step = motion.times[-3:].diff().amax()  # the last two keys may be a step, which is instant
    order = torch.arange(len(motion) + 1) % len(motion)
    return replace(
        motion,
        times=torch.cat((motion.times, motion.times[-1:] + step)),
        pose=motion.pose[order],
        morphs={node: weights[order] for node, weights in motion.morphs.items()},
    )


def check_feet(character: CharacterBody) -> None:
    """Refuse a body whose legs do not reach the ground while its arms or its trunk do: it lies, or
    the file's up axis is another."""
    roles = dict(zip((str(role) for role in character.rig.roles), character.rig.roles, strict=True))
    legs = {name for name, role in roles.items() if role.limb is not None and role.limb.is_leg}
    standing = [character.body.names[i] for i in character.feet.nonzero().flatten()]
    if legs and standing and not legs & set(standing):
        raise ValueError(
            f"no leg stands on the ground in the neutral pose, but {', '.join(standing)} does: the "
            "character lies, or another axis points up (--up)"
        )


def take_travel_out(grounded: Grounded) -> ControlPose:
    """The grounded motion on the spot again: what its travel was is taken away."""
    if grounded.travel is None:
        return grounded.controls
    controls = grounded.controls
    times = torch.arange(len(controls.translation)) / grounded.tracking.target.fps
    away = times[:, None].to(controls.translation) * grounded.travel.to(controls.translation)
    return replace(controls, translation=controls.translation - away)


def tracking_arrays(body: Body, tracking: Tracking) -> dict[str, np.ndarray]:
    """What a tracking run made, by name, as in `physics.npz`. Per substep, SI units, Y up."""
    forces = tracking.forces
    arrays = {
        "time": torch.arange(len(tracking.targets) + 1) * tracking.parameters.step,
        **tracking.rollout.arrays(),
        "targets": tracking.targets,
        "torques": forces.torques,
        "contact_forces": forces.contacts.sum(-2),
        "root_assist_torque": forces.assist,
        "assist_up": tracking.up,
    }
    numbers = {name: value.float().numpy(force=True) for name, value in arrays.items()}
    return {"parts": np.array(body.names), **numbers}
