"""How natural the poses of a motion are, by the pose model's judge."""

from __future__ import annotations

from akd.posespace.codec import PoseCodec
from akd.posespace.model import load_model
from akd.posespace.score import score
from akd.rig.character import Character
from akd.rig.control import ControlPose


def implausibility(character: Character, pose: ControlPose) -> float:
    """Mean log-odds that the poses of a motion are implausible: natural ones are below -2."""
    codec = PoseCodec.of(character)
    states = codec.encode(pose.to("cpu"))
    return float(score(load_model(), codec.body.expand(len(states)), states).poses.mean())
