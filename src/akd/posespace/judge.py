"""How natural the poses of a motion are, by the pose model's judge."""

from __future__ import annotations

from pathlib import Path

from akd.posespace.codec import PoseCodec
from akd.posespace.model import load_model
from akd.posespace.score import score
from akd.rig.character import Character
from akd.rig.control import ControlPose


def implausibility(
    character: Character, pose: ControlPose, *, weights: Path | None = None
) -> float:
    """Mean log-odds that the poses of a motion are implausible: natural ones are below -2.

    Args:
        character: Who moves.
        pose: Its coordinates in every frame.
        weights: File of the pose model; the one that ships if left out.

    Raises:
        FileNotFoundError: There is no such file.
    """
    codec = PoseCodec.of(character)
    states = codec.encode(pose.to("cpu"))
    return float(score(load_model(weights), codec.body.expand(len(states)), states).poses.mean())
