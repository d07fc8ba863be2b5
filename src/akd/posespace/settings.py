"""Settings of the pose model and of its training. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

from akd.base.weights import check_positive

POINTS = 12
"""Surface points kept for each joint."""
NAME_CHANNELS = 64
"""Channels of the hashed embedding of a joint's name."""
FEATURES = 10
"""Numbers that describe a joint's position in the tree and its limits."""
LIMIT_FEATURES = slice(4, 10)
"""Those that are limits: radians forth and back about each of the joint's axes."""
STEPS = 8
"""Steps up or down the tree that have a bucket of their own."""
RELATIONS = 2 * STEPS * STEPS
"""Steps up, steps down, and whether the two joints are mirror images."""
ROLES = (16, 9, 4)
"""Parts, limbs and sides that have an embedding, the unknown ones included."""
ANGLE_UNIT = 0.35
"""Radians of a rotation vector that count as one in the state."""
HEIGHT_UNIT = 0.1
"""Body sizes of root height that count as one in the state."""


@dataclass(frozen=True)
class PoseNetworkSettings:
    """Size of the transformer."""

    width: int = 256
    layers: int = 7
    heads: int = 8
    point_width: int = 64
    """Channels of the encoder of surface points."""

    def __post_init__(self) -> None:
        check_positive(self)  # files of weights state them
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads {self.heads}, got {self.width}")

    @property
    def least_weights(self) -> int:
        """Numbers that the largest layers hold: a network has no fewer."""
        blocks = 12 * self.layers * self.width**2 + RELATIONS * self.layers * self.heads
        return blocks + 8 * self.width**2 + self.point_width * (self.point_width + self.width)


@dataclass(frozen=True)
class PoseTrainSettings:
    """Optimisation of the pose model."""

    batch: int = 1024
    poses_each: int = 8
    """Poses of one body in a batch: its features are computed once for all of them."""
    artists: float = 1.0
    """Sampling weight of artists' rigs relative to each other source."""
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: int = 200
    """Steps of linear learning-rate warm-up."""
    ema: float = 0.999
    drop_names: float = 0.4
    """Share of bodies whose joint names are hidden."""
    drop_name: float = 0.1
    """Share of joints of the others whose name is hidden."""
    drop_roles: float = 0.2
    """Share of bodies whose joint roles are hidden."""
    drop_role: float = 0.05
    """Share of joints of the others whose role is hidden."""
    drop_surface: float = 0.2
    """Share of bodies whose surface is hidden."""
    drop_leaves: float = 0.1
    """Share of joints without children that are left out."""
    neutral: float = 0.3
    """Largest standard deviation of random changes of the neutral pose, radians."""
    axes: float = 0.15
    """Largest standard deviation of random changes of the joint axes, radians."""
    lengths: float = 0.2
    """Largest standard deviation of the logarithm of random bone lengths."""
    stretch: float = 0.08
    """Relative standard deviation of the random stretch of a body along its three axes."""
    symmetric: float = 0.7
    """Share of bodies that change equally left and right."""
    position_weight: float = 0.5
    """Weight of the error of joint positions beside that of the state."""
    judged: float = 0.375
    """Share of the bodies of a batch whose poses the judge sees, half of them spoilt."""
    judge_weight: float = 0.2
    """Weight of the judge's cross-entropy, of joints and of poses."""
    same_level: float = 0.6
    """Share of poses whose joints all have the same noise level; in the others every joint has its
    own, so that the model can complete a pose of which a part is known."""
    checkpoint_seconds: float = 60.0
