"""Carry a motion to another skeleton whose joints have the same names."""

from __future__ import annotations

import torch

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.pose import Pose
from akd.rig.roles import names
from akd.rig.skeleton import Skeleton


def matching_joints(source: Skeleton, target: Skeleton) -> list[tuple[int, int]]:
    """Pairs (source, target) of joints with the same words in their names, each used once."""
    by_words: dict[tuple[str, ...], int] = {}
    for joint, name in enumerate(source.names):
        by_words.setdefault(tuple(names.words(name)), joint)
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for joint, name in enumerate(target.names):
        match = by_words.get(tuple(names.words(name)))
        if match is not None and match not in taken and names.words(name):
            pairs.append((match, joint))
            taken.add(match)
    return pairs


def retarget(motion: Motion, target: Skeleton, *, scale: float = 1.0) -> Motion:
    """The motion on another skeleton, joint by joint of the same name.

    Each joint departs from its own rest by the rotation that the source joint departs from its own,
    and moves by the same translation times `scale` (the ratio of body heights). Joints without a
    namesake rest. Raises `ValueError` where fewer than half of the source's moving joints have one.
    """
    source = motion.skeleton
    pairs = matching_joints(source, target)
    departs = _departures(motion)
    moving = {j for j in range(len(source)) if bool(departs[:, j].any())}
    matched = moving & {s for s, _ in pairs}
    if moving and len(matched) < 0.5 * len(moving):
        raise ValueError(
            f"only {len(matched)} of the {len(moving)} joints that move have a namesake in the "
            "target: retargeting by name needs at least half"
        )
    rest = target.rest.to(motion.pose.translation.device, motion.pose.translation.dtype)
    pose = rest.expand(len(motion))
    translation, rotation = pose.translation.clone(), pose.rotation.clone()
    for s, t in pairs:
        turn = quaternion.multiply(
            quaternion.conjugate(source.rest.rotation[s]).to(rotation), motion.pose.rotation[:, s]
        )
        rotation[:, t] = quaternion.multiply(rest.rotation[t], turn)
        moved = motion.pose.translation[:, s] - source.rest.translation[s].to(translation)
        translation[:, t] = rest.translation[t] + scale * moved
    return Motion(
        target,
        motion.times,
        Pose(translation, quaternion.make_continuous(rotation), pose.scale),
        motion.name,
    )


def _departures(motion: Motion) -> torch.Tensor:
    """[T, J]: whether a joint has left its rest."""
    rest = motion.skeleton.rest.to(motion.pose.translation.device, motion.pose.translation.dtype)
    turned = quaternion.geodesic(rest.rotation, motion.pose.rotation) > 1e-4
    moved = (motion.pose.translation - rest.translation).norm(dim=-1) > 1e-5
    return turned | moved
