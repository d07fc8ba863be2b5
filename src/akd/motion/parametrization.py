"""`Parametrization`: what is optimised, and how it becomes a moving body.

A parametrization is a recipe, such as `Cycle(harmonics=3)`. It makes `MotionParameters` for one
character: tensors for an optimiser, and the transforms of the body's bones that follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.motion.key_poses import KeyPoses
from akd.motion.motion import Motion
from akd.motion.root_limits import GAIT, RootLimits
from akd.rig.control import ControlPose, ControlRig

if TYPE_CHECKING:
    from akd.scene.stage import Stage


@dataclass(frozen=True)
class MotionStart:
    """Where the search begins: the neutral pose, moving over the ground."""

    rig: ControlRig
    frames: int
    fps: float
    leg_length: float
    """Metres."""
    speed: float = 0.0
    """Metres per second along `way`."""
    period: float | None = None
    """Seconds of a gait cycle; None for an action that has none."""
    turn: float = 0.0
    """Radians by which the path turns left over the clip."""
    symmetrical: bool = False
    """Whether left repeats right in this gait, half a cycle later."""
    at_once: bool = False
    """Whether it does so at the same time instead, as wings do."""
    root: RootLimits = GAIT
    """How far the root may leave its path and lean."""
    keys: KeyPoses | None = None
    """Poses to meet within the frames, heights over the neutral pose's."""
    on_feet: bool = True
    """Feet carry the body: not where it flies or swims."""
    altitude: float = 0.0
    """Metres above the neutral pose's height at which it flies."""
    way: float = 0.0
    """Radians to the left of the way the body faces in which it travels."""


@dataclass(frozen=True)
class PosedFrames:
    """A body over the frames of a video, or a batch of them."""

    transforms: Float[Tensor, "*k T B 4 4"]
    """world_from_mesh of the bones that the stage's cloud is bound to."""
    path: Float[Tensor, "*k T 3"]
    """Translation of the root, metres: the camera follows it."""
    controls: ControlPose | None = None
    """Coordinates of the control rig, where there is one."""
    known: Bool[Tensor, "*k T"] | None = None
    """Frames whose poses are given, where there are any."""

    def __getitem__(self, k: int) -> PosedFrames:
        """One of a batch."""
        controls = None if self.controls is None else self.controls[k]
        known = None if self.known is None else self.known[k]
        return PosedFrames(self.transforms[k], self.path[k], controls, known)


@runtime_checkable
class MotionParameters(Protocol):
    """Tensors to be optimised, for one character and one clip."""

    def tensors(self) -> list[Tensor]:
        """The tensors that are optimised.

        Returns:
            Leaf tensors that require gradients.
        """
        ...

    def values(self) -> dict[str, Tensor]:
        """The current values, for a checkpoint.

        Returns:
            Copies of all tensors, by name.
        """
        ...

    def with_values(self, values: Mapping[str, Tensor]) -> MotionParameters:
        """The same character and clip with other values.

        Args:
            values: What `values` returned, possibly in another run.

        Returns:
            New parameters.
        """
        ...

    def pose(self, stage: Stage) -> PosedFrames:
        """The body at every frame of the video, differentiably.

        Args:
            stage: Where the character performs.

        Returns:
            The bones' transforms and the root's path.
        """
        ...


def pose_together(candidates: Sequence[MotionParameters], stage: Stage) -> PosedFrames:
    """The bodies of several candidates, in a leading axis.

    Parameters whose type has a `pose_batch`, as `ControlCurves` do, are posed at once.
    """
    kind = type(candidates[0])
    together = getattr(kind, "pose_batch", None)
    if together is not None and len(candidates) > 1 and all(type(c) is kind for c in candidates):
        found = together(candidates, stage)
        if found is not None:
            return found
    posed = [candidate.pose(stage) for candidate in candidates]
    transforms = torch.stack([one.transforms for one in posed])
    path = torch.stack([one.path for one in posed])
    controls = [one.controls for one in posed if one.controls is not None]
    masks = [one.known for one in posed if one.known is not None]
    known = torch.stack(masks) if len(masks) == len(posed) else None
    if len(controls) < len(posed):
        return PosedFrames(transforms, path, known=known)
    return PosedFrames(
        transforms,
        path,
        ControlPose(
            torch.stack([one.translation for one in controls]),
            torch.stack([one.root_rotation for one in controls]),
            torch.stack([one.angles for one in controls]),
        ),
        known,
    )


@runtime_checkable
class SkeletalParameters(MotionParameters, Protocol):
    """Parameters of a motion of joints, which can be written to a file."""

    def motion(self, name: str, *, lift: float, fps: float | None = None) -> Motion:
        """The motion of the character's file, raised by `lift` metres to stand on the ground."""
        ...


@runtime_checkable
class Parametrization(Protocol):
    """Creates motion parameters for a stage."""

    def prepare(self, stage: Stage) -> Stage:
        """Adapt the stage before the search; most return it unchanged.

        Args:
            stage: Character, cloud, ground and camera.

        Returns:
            The stage to perform on.
        """
        ...

    def begin(self, start: MotionStart, stage: Stage) -> MotionParameters:
        """The parameters at their starting values.

        Args:
            start: Speed, period and limits to start from.
            stage: Where the character performs; tensors go to its device.

        Returns:
            The parameters.
        """
        ...
