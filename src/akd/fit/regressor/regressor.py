"""`MotionRegressor`: the joint angles that a video shows, by a trained network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import checking_content, file_hash, read_tensors, write_tensors
from akd.base.weights import check_weights
from akd.fit.regressor.network import RegressorNetwork
from akd.fit.regressor.settings import RegressorSettings
from akd.math import quaternion
from akd.metrics.recognise.recogniser import scaled
from akd.motion.parameters import ControlCurves
from akd.motion.retargeting.body_parts import (
    BODY_PARTS,
    MISSING,
    deciding_parts,
    from_part_rotations,
    part_controls,
)
from akd.prior.protocol import VideoPrior
from akd.rig.control import ControlPose, ControlRig
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage

FORMAT = "akd-regressor-1"
FILE = "regressor.safetensors"
_DOUBT = 0.5
"""Radians. An angle that is expected to be off by this is half as certain as one that is right."""


@dataclass(frozen=True)
class Reading:
    """What a video shows."""

    pose: ControlPose
    certainty: Float[Tensor, "T D"]
    """How sure the angles are, from 0 to 1."""


@dataclass(frozen=True)
class MotionRegressor:
    """Reads videos in the style `roles` by a camera that follows the character."""

    network: RegressorNetwork

    @property
    def settings(self) -> RegressorSettings:
        """What it looks at."""
        return self.network.settings

    def reads(self, prior: VideoPrior) -> bool:
        """Whether the videos of a prior are such as it was trained on."""
        return (
            prior.style is SceneStyle.ROLES
            and prior.frames == self.settings.frames
            and prior.width == prior.height
        )

    def __call__(self, stage: Stage, videos: Float[Tensor, "K T H W 3"]) -> list[ControlPose]:
        """Coordinates of the stage's character in each of the videos: see `read`."""
        return [reading.pose for reading in self.read(stage, videos)]

    @torch.no_grad()
    def read(self, stage: Stage, videos: Float[Tensor, "K T H W 3"]) -> list[Reading]:
        """Coordinates of the stage's character in each of the videos, on the CPU.

        Args:
            stage: The character, seen from where the videos were made.
            videos: Square, sRGB 0..1, with as many frames as the network was trained on.

        Raises:
            ValueError: The videos have another number of frames, or are not square.
        """
        frames, height, width = videos.shape[1:4]
        if frames != self.settings.frames or height != width:
            raise ValueError(
                f"videos must have {self.settings.frames} square frames, got "
                f"{list(videos.shape[1:4])}"
            )
        rig, rows = stage.rig, len(videos)
        first = next(self.network.parameters())
        images = torch.cat((videos.to(first), stage.reference_images().to(first).expand(
            rows, -1, -1, -1
        )[:, None]), dim=1)  # fmt: skip
        images = scaled(images.clamp(0.0, 1.0), self.settings.size)
        view = first.new_tensor((stage.view.azimuth, stage.view.elevation)).expand(rows, 2)
        present = torch.tensor([c != MISSING for c in part_controls(rig)], device=first.device)
        found = self.network.eval()(images[:, :-1], images[:, -1], view, present.expand(rows, -1))
        rotations = quaternion.from_matrix(found.rotations.cpu())
        up, left, forward = rig.root_axes
        axes = torch.stack((left, up, forward)) * stage.character.height
        readings = []
        for turned, shift, expected in zip(
            rotations, found.shift.cpu(), found.expected_angles.cpu(), strict=True
        ):
            root, angles = from_part_rotations(rig, turned)
            pose = ControlPose(shift @ axes, root, angles)
            readings.append(Reading(pose, certainty(rig, expected)))
        return readings

    def to(self, device: torch.device | str) -> MotionRegressor:
        """Move to a device."""
        return MotionRegressor(self.network.to(device))


def certainty(rig: ControlRig, expected: Float[Tensor, "T P"]) -> Float[Tensor, "T D"]:
    """How sure the angles of the driven joints are, from 0 to 1.

    Args:
        rig: Of the body.
        expected: Angles by which the rotations of `BODY_PARTS` are expected to be off, radians.

    Returns:
        1 where no error is expected, a half at `_DOUBT`. A joint's angles are the difference of two
        rotations, and both may be off.
    """
    parts = torch.tensor(deciding_parts(rig))
    above = parts[torch.tensor([parent + 1 for parent in rig.parents], dtype=torch.long)]
    own = expected[:, parts[1:]].square()
    off = own + torch.where(above == parts[1:], 0.0, expected[:, above].square())
    return 1.0 / (1.0 + off / _DOUBT**2)


def begin_with(curves: ControlCurves, pose: ControlPose) -> None:
    """Let curves start as near to a pose of every frame as their bounds allow.

    A gait keeps its speed and its level path: what the feet do decides these.
    """
    curves.set_angles(pose.angles)
    curves.set_root_rotation(pose.root_rotation)
    if curves.period is None:
        curves.set_translation(pose.translation)


def save_regressor(network: RegressorNetwork, folder: Path) -> Path:
    """Write `regressor.safetensors`, in half precision."""
    tensors = {name: value.to(torch.float16) for name, value in network.state_dict().items()}
    about = {
        "format": FORMAT,
        "settings": json.dumps(asdict(network.settings)),
        "parts": str(len(BODY_PARTS)),
    }
    path = folder / FILE
    write_tensors(path, tensors, about=about)
    return path


def find_regressor(
    weights: Path | None = None, *, device: torch.device | str = "cpu"
) -> MotionRegressor | None:
    """The regressor in a folder of weights, else the bundled one; None where there is none."""
    path = _file_of(weights)
    return None if path is None else load_regressor(path, device=device)


def regressor_hash(weights: Path | None = None) -> str | None:
    """SHA-256 of the weights that `find_regressor` would take; None where there are none."""
    path = _file_of(weights)
    return None if path is None else file_hash(path)


def load_regressor(path: Path, *, device: torch.device | str = "cpu") -> MotionRegressor:
    """The regressor in a file that `save_regressor` wrote."""
    tensors, about = read_tensors(path, format=FORMAT)
    with checking_content(path):
        if int(about["parts"]) != len(BODY_PARTS):
            raise ValueError(f"must be of {len(BODY_PARTS)} body parts, got {about['parts']}")
        values = json.loads(about["settings"])
        values["channels"] = tuple(values["channels"])  # JSON has no tuples
        settings = RegressorSettings(**values)
        check_weights(settings.least_weights, tensors)
        with torch.random.fork_rng(devices=[]):
            network = RegressorNetwork(settings)
        network.load_state_dict({name: value.float() for name, value in tensors.items()})
    return MotionRegressor(network.eval().to(device))


def _file_of(weights: Path | None) -> Path | None:
    bundled = Path(str(resources.files("akd.fit.regressor") / "weights"))
    folders: Sequence[Path | None] = (weights, bundled)
    for folder in folders:
        if folder is not None and (folder / FILE).is_file():
            return folder / FILE
    return None
