"""`TargetMotion`: the motion that a body is to follow, in the body's coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from akd.physics.body import Body, Coordinates, lowest, place

JUMP = 0.05
"""Least mean distance, in body heights, that parts move between two frames that do not belong
together."""


@dataclass(frozen=True)
class TargetMotion(Coordinates):
    """The motion to follow: coordinates [F, ...] at a fixed frame rate."""

    fps: float
    cyclic: bool = False
    """The last frame is the first, up to a horizontal displacement and a yaw."""

    def __getitem__(self, frames: slice) -> TargetMotion:
        return replace(
            self, position=self.position[frames], rotation=self.rotation[frames],
            angles=self.angles[frames],
        )  # fmt: skip

    def __post_init__(self) -> None:
        if len(self.position) < 2:
            raise ValueError(f"a motion to track needs at least 2 frames, got {len(self.position)}")
        if not self.fps > 0:
            raise ValueError(f"fps must be above zero, got {self.fps}")


def stand_on_ground(body: Body, target: TargetMotion) -> tuple[TargetMotion, float]:
    """The motion moved vertically so that its lowest corner is on the ground in the lower half of
    its frames, which are those that stand where the other half flies; and by how much (metres)."""
    placement = place(body, target)
    lift = -float(lowest(body, placement).quantile(0.25))
    raised = target.position + target.position.new_tensor((0.0, lift, 0.0))
    return replace(target, position=raised), lift


def starts_apart(body: Body, target: TargetMotion) -> bool:
    """Whether the first frame is a calibration pose, as the T-pose of captured files: the body's
    shape jumps to the second frame, by far more than over the next few."""
    if len(target.position) < 4:
        return False
    placement = place(body, target)
    shape = placement.centres(body) - placement.origins[:, :1]
    change = (shape[1:] - shape[:-1]).norm(dim=-1).mean(1) / body.height
    return bool(change[0] > max(2.5 * float(change[1:6].max()), JUMP))
