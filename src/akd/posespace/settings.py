"""Settings of the pose model and of its training. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TOKENS = 41
"""The root and at most 40 driven joints."""
POINTS = 12
"""Surface points kept for each joint."""
NAME_CHANNELS = 64
"""Channels of the hashed embedding of a joint's name."""
FEATURES = 10
"""Numbers that describe a joint's limits and its position in the tree."""
STEPS = 8
"""Steps up or down the tree that have a bucket of their own."""
RELATIONS = 2 * STEPS * STEPS
"""Steps up, steps down, and whether the two joints are mirror images."""
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


@dataclass(frozen=True)
class PoseTrainSettings:
    """Optimisation of the pose model."""

    batch: int = 1024
    poses_each: int = 8
    """Poses of one body in a batch: its features are computed once for all of them."""
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: int = 200
    """Steps of linear learning-rate warm-up."""
    ema: float = 0.999
    drop_names: float = 0.3
    """Share of poses whose joint names are hidden."""
    drop_roles: float = 0.1
    """Share of poses whose joint roles are hidden."""
    jitter: float = 0.04
    """Relative standard deviation of the random stretch of a body along its three axes."""
    position_weight: float = 0.5
    """Weight of the error of joint positions beside that of the state."""
    same_level: float = 0.6
    """Share of poses whose joints all have the same noise level; in the others every joint has its
    own, so that the model can complete a pose of which a part is known."""
    checkpoint_seconds: float = 60.0
