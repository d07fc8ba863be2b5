"""`PoseSet`: poses of many bodies with their provenance, in a file or a folder of files.

A file is a safetensors file: the bodies, the states in half precision one body after the other
without padding, and for each pose its clip and its time in the clip. The metadata holds the tables
of bodies and clips as JSON. Reading one needs torch and safetensors only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.base.files import checking_content, list_files, read_tensors, write_tensors
from akd.posespace.body import PoseBody, stack_bodies
from akd.posespace.settings import FEATURES, NAME_CHANNELS, POINTS, RELATIONS, ROLES

FORMAT = "akd-poses-1"
_STORED = {"relation": torch.uint8, "parents": torch.uint8, "depth": torch.uint8,
           "mirror": torch.int8, "roles": torch.uint8, "names": torch.float16,
           "points": torch.float16, "features": torch.float16}  # fmt: skip


@dataclass(frozen=True)
class BodyRecord:
    """Where a body comes from."""

    name: str
    """Path in its folder of files, or species and seed."""
    source: str
    """`assets`, `mocap`, `zoo` or `harvest`."""
    family: str
    """Bodies of one family share animation: they train or measure together."""
    tokens: int
    height: float
    """Extent along up over the size that its coordinates are divided by."""


@dataclass(frozen=True)
class ClipRecord:
    """Where poses come from."""

    body: int
    name: str


@dataclass(frozen=True)
class PoseSet:
    """Poses of N bodies, padded to the same number of tokens."""

    records: tuple[BodyRecord, ...]
    bodies: PoseBody
    """A batch, in the order of the records."""
    clips: tuple[ClipRecord, ...]
    states: Float[Tensor, "P J 3"]
    body_of: Int[Tensor, "P"]
    clip_of: Int[Tensor, "P"]
    times: Float[Tensor, "P"]
    """Seconds from the start of the clip."""

    def __len__(self) -> int:
        return len(self.states)

    def to(self, device: torch.device | str) -> PoseSet:
        """Move to a device."""
        return replace(
            self, bodies=self.bodies.to(device), states=self.states.to(device),
            body_of=self.body_of.to(device), clip_of=self.clip_of.to(device),
            times=self.times.to(device),
        )  # fmt: skip


@dataclass(frozen=True)
class BodyPoses:
    """The poses of one body, as they are collected."""

    record: BodyRecord
    body: PoseBody
    clips: tuple[tuple[str, Float[Tensor, "_ J 3"], Float[Tensor, "_"]], ...]
    """Name, states and times of each clip."""


def join_poses(parts: Sequence[BodyPoses]) -> PoseSet:
    """One set of the poses of many bodies. Raises `ValueError` where there are none."""
    if not any(part.clips for part in parts):
        raise ValueError("parts must hold at least one pose, got none")
    tokens = max(part.body.tokens for part in parts)
    clips, states, body_of, clip_of, times = [], [], [], [], []
    for number, part in enumerate(parts):
        for name, clip_states, clip_times in part.clips:
            padding = clip_states.new_zeros(len(clip_states), tokens - part.body.tokens, 3)
            states.append(torch.cat((clip_states, padding), dim=1))
            body_of.append(torch.full((len(clip_states),), number))
            clip_of.append(torch.full((len(clip_states),), len(clips)))
            times.append(clip_times)
            clips.append(ClipRecord(number, name))
    bodies = stack_bodies([part.body for part in parts], tokens=tokens)
    return PoseSet(
        tuple(part.record for part in parts), bodies, tuple(clips), torch.cat(states),
        torch.cat(body_of), torch.cat(clip_of), torch.cat(times).float(),
    )  # fmt: skip


def save_poses(poses: PoseSet, path: Path) -> None:
    """Write a set."""
    counts = torch.tensor([record.tokens for record in poses.records])
    real = torch.arange(poses.states.shape[1]) < counts[poses.body_of][:, None]
    tensors = {
        "states": poses.states[real].half(), "body_of": poses.body_of.to(torch.int16),
        "clip_of": poses.clip_of.to(torch.int32), "times": poses.times,
    }  # fmt: skip
    for field in fields(poses.bodies):
        value = getattr(poses.bodies, field.name)
        tensors[f"body.{field.name}"] = value.to(_STORED.get(field.name, value.dtype))
    about = {
        "format": FORMAT,
        "bodies": json.dumps([asdict(record) for record in poses.records]),
        "clips": json.dumps([[clip.body, clip.name] for clip in poses.clips]),
    }
    write_tensors(path, tensors, about=about)


def merge_poses(sets: Sequence[PoseSet]) -> PoseSet:
    """One set of several; bodies of the same record are one body."""
    tokens = max(one.bodies.tokens for one in sets)
    index: dict[BodyRecord, int] = {}
    bodies, clips, states, body_of, clip_of = [], [], [], [], []
    for one in sets:
        place = []
        for number, record in enumerate(one.records):
            if record not in index:
                index[record] = len(index)
                bodies.append(one.bodies[number])
            place.append(index[record])
        padding = one.states.new_zeros(len(one), tokens - one.bodies.tokens, 3)
        states.append(torch.cat((one.states, padding), dim=1))
        body_of.append(torch.tensor(place)[one.body_of])
        clip_of.append(one.clip_of + len(clips))
        clips += [ClipRecord(place[clip.body], clip.name) for clip in one.clips]
    return PoseSet(
        tuple(index), stack_bodies(bodies, tokens=tokens), tuple(clips), torch.cat(states),
        torch.cat(body_of), torch.cat(clip_of), torch.cat([one.times for one in sets]),
    )  # fmt: skip


def load_poses(path: Path) -> PoseSet:
    """Read a set: a file, or all files of a folder.

    Raises:
        ValueError: A file holds no poses (`DamagedFile`), or the folder holds no file.
    """
    if path.is_dir():
        files = list_files(path, (".safetensors",))
        if not files:
            raise ValueError(f"{path}: must hold .safetensors files of poses, got none")
        return merge_poses([load_poses(file) for file in files])
    tensors, about = read_tensors(path, format=FORMAT)
    with checking_content(path):
        return _pose_set(tensors, about)


def _pose_set(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> PoseSet:
    records = tuple(BodyRecord(**record) for record in json.loads(about["bodies"]))
    wide = {torch.float16: torch.float32, torch.uint8: torch.long, torch.int8: torch.long}
    values = {f.name: tensors[f"body.{f.name}"] for f in fields(PoseBody)}
    bodies = PoseBody(**{name: v.to(wide.get(v.dtype, v.dtype)) for name, v in values.items()})
    body_of = tensors["body_of"].long()
    counts = torch.tensor([record.tokens for record in records])
    real = torch.arange(bodies.tokens) < counts[body_of][:, None]
    states = torch.zeros(len(body_of), bodies.tokens, 3)
    states[real] = tensors["states"].float()
    clips = tuple(ClipRecord(body, name) for body, name in json.loads(about["clips"]))
    poses = PoseSet(
        records, bodies, clips, states, body_of, tensors["clip_of"].long(), tensors["times"]
    )
    _check(poses)
    return poses


def _check(poses: PoseSet) -> None:
    """Raise `ValueError` for values that training could not use: files may come from strangers."""
    bodies, tokens = poses.bodies, poses.bodies.tokens
    for record in poses.records:
        for name in ("name", "source", "family"):
            _require(isinstance(getattr(record, name), str), f"{name} must be text")
        _require(
            type(record.tokens) is int and 1 <= record.tokens <= tokens,
            f"tokens must be from 1 to {tokens}",
        )
    for clip in poses.clips:
        known = type(clip.body) is int and 0 <= clip.body < len(poses.records)
        _require(known and isinstance(clip.name, str), "clips must be of a body, and have a name")
    shapes = {
        "present": (), "has_points": (), "parents": (), "depth": (), "mirror": (), "pivots": (3,),
        "frames": (3, 3), "ends": (3,), "relation": (tokens,), "features": (FEATURES,),
        "roles": (3,), "names": (NAME_CHANNELS,), "points": (POINTS, 3),
    }  # fmt: skip
    for name, shape in shapes.items():
        value, wanted = getattr(bodies, name), (len(poses.records), tokens, *shape)
        _require(value.shape == wanted, f"{name} must be {list(wanted)}, got {list(value.shape)}")
    for name in ("present", "has_points"):
        _require(getattr(bodies, name).dtype == torch.bool, f"{name} must be true or false")
    for name, index, low, count in (
        ("parents", bodies.parents, 0, tokens), ("depth", bodies.depth, 0, tokens),
        ("mirror", bodies.mirror, -1, tokens), ("relation", bodies.relation, 0, RELATIONS),
        *(("roles", bodies.roles[..., kind], 0, count) for kind, count in enumerate(ROLES)),
        ("body_of", poses.body_of, 0, len(poses.records)),
        ("clip_of", poses.clip_of, 0, len(poses.clips)),
    ):  # fmt: skip
        inside = index.dtype == torch.long and bool(((index >= low) & (index < count)).all())
        _require(inside, f"{name} must be whole numbers from {low} to {count - 1}")
    rows = len(poses.states)
    for name in ("body_of", "clip_of", "times"):
        _require(getattr(poses, name).shape == (rows,), f"{name} must be one value a pose")
    _require(rows > 0, "states must hold at least one pose")
    for name, value in (("states", poses.states), ("times", poses.times), *vars(bodies).items()):
        _require(bool(value.isfinite().all()), f"{name} must be finite")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
