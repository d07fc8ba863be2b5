"""Candidates of one camera direction: limbs as found, as a gait, with its sides, and as read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.candidate import Candidate, make_candidate
from akd.fit.directions import FEW, PITCHES
from akd.fit.gait_search import search_gait
from akd.fit.limb_search import (
    Limb,
    LimbSearch,
    image_costs,
    limb_angles,
    search_limbs,
    sides_as,
    swap_sides,
)
from akd.fit.observation import Observation
from akd.fit.placing import limb_target, placed_again
from akd.fit.reading import is_readable, pose_images, read_motion
from akd.fit.regressor.regressor import MotionRegressor
from akd.fit.settings import FitSettings
from akd.fit.view_search import ViewGuess
from akd.scene.stage import Stage

GAIT, SIDED, READ = ", as a gait", ", sides of a gait", ", as read"
"""In the name of a start."""
_ROUNDS = 2
"""How often the limbs are searched and the body is placed again, for each pitch."""
_OTHERWISE = 0.1
"""Share of the frames in which they differ from what was found frame by frame, at least."""


def with_limbs(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    limbs: list[Limb],
    settings: FitSettings,
    fps: float,
) -> list[tuple[float, Candidate]]:
    """Candidates of one direction, each with what it leaves of the video."""
    name = " and ".join(f"{math.degrees(guess.azimuth):.0f} degrees" for guess in guesses)
    if not limbs:
        angles = torch.zeros(len(observations[0]), len(stage.rig), 3)
        return [(0.0, make_candidate(stage, observations, guesses, angles, settings, fps, name))]

    def search(
        guesses: Sequence[ViewGuess], pitch: float, like: LimbSearch | None = None, **options: int
    ) -> LimbSearch:
        targets = [
            replace(limb_target(stage, observation, guess, settings), pitch=pitch)
            for observation, guess in zip(observations, guesses, strict=True)
        ]
        return search_limbs(stage, limbs, targets, like=like, **options)

    def located(guesses: Sequence[ViewGuess], found: LimbSearch) -> list[ViewGuess]:
        return [
            placed_again(stage, observation, guess, own, settings)
            for guess, observation, own in zip(guesses, observations, found.images, strict=True)
        ]

    # With its limbs where they are, the body is found more exactly, and then the limbs are.
    tried = []
    for pitch in PITCHES:
        found = search(guesses, pitch, most=FEW, rounds=0)
        placed = located(guesses, found)
        for _ in range(_ROUNDS):
            placed = located(placed, search(placed, pitch, found, most=FEW))
        found = search(placed, pitch, found, most=FEW)
        tried.append((found, pitch, placed))
    best, pitch, guesses = min(tried, key=lambda one: one[0].residual)
    guesses = located(guesses, search(guesses, pitch, best))
    found = search(guesses, pitch, best)

    def starts(poses: Tensor, angles: Tensor, name: str) -> list[tuple[float, Candidate]]:
        rotation = torch.zeros(len(observations[0]), 3)
        rotation[:, 1] = pitch
        begun = make_candidate(stage, observations, guesses, angles, settings, fps, name, rotation)
        return [(found.residual_of(poses), begun)]

    def variants(poses: Tensor, angles: Tensor, name: str) -> list[tuple[float, Candidate]]:
        made = []
        for what, kinds in _pairings(limbs):
            own, turned = poses, angles
            for kind in kinds:
                own = swap_sides(limbs, own, kind=kind)
                turned = _swap_angles(limbs, turned, kind)
            made += starts(own, turned, name + what)
        return made

    candidates = variants(found.poses, limb_angles(stage, limbs, found.poses), name)
    gait = None
    if settings.gait_search:
        gait = search_gait(stage, limbs, found, frames=len(observations[0]), fps=fps)
    if gait is not None:
        candidates += variants(gait.poses, gait.angles, name + GAIT)
        sided = sides_as(limbs, found.poses, gait.poses)
        if float((sided != found.poses).float().mean(0).max()) > _OTHERWISE:
            candidates += variants(sided, limb_angles(stage, limbs, sided), name + SIDED)
    return candidates


def as_read(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    regressor: MotionRegressor,
    settings: FitSettings,
    fps: float,
) -> list[tuple[float, Candidate]]:
    """The candidate that begins with what the regressor reads in the first view that it can read,
    with what it leaves of the video; none where it can read none."""
    seen = [k for k, guess in enumerate(guesses) if is_readable(guess)]
    if not seen:
        return []
    pose = read_motion(stage, observations[seen[0]], guesses[seen[0]], regressor, fps=fps)
    placed, left = [], 0.0
    for observation, guess in zip(observations, guesses, strict=True):
        target = limb_target(stage, observation, guess, settings)
        images = pose_images(stage, pose, target)
        placed.append(placed_again(stage, observation, guess, images, settings))
        target = limb_target(stage, observation, placed[-1], settings)
        left += float(image_costs(images - target.image).mean()) / len(guesses)
    name = " and ".join(f"{math.degrees(guess.azimuth):.0f} degrees" for guess in guesses) + READ
    begun = make_candidate(
        stage, observations, placed, pose.angles, settings, fps, name, pose.root_rotation
    )
    anchor = pose.angles.to(stage.cloud.means.device)
    return [(left, replace(begun, anchor=anchor))]


def _pairings(limbs: list[Limb]) -> list[tuple[str, tuple[object, ...]]]:
    """Legs as found, those of each kind exchanged left and right, and all of them."""
    every = (limb.role.limb for limb in limbs)
    kinds = list(dict.fromkeys(kind for kind in every if kind is not None and kind.is_leg))
    found: list[tuple[str, tuple[object, ...]]] = [("", ())]
    found += [(f", {kind.value} exchanged", (kind,)) for kind in kinds]
    return [*found, (", legs exchanged", tuple(kinds))] if len(kinds) > 1 else found


def _swap_angles(
    limbs: list[Limb], angles: Float[Tensor, "T D 3"], kind: object
) -> Float[Tensor, "T D 3"]:
    """What `swap_sides` does to poses."""
    pair, swapped = [limb for limb in limbs if limb.role.limb is kind], angles.clone()
    if len(pair) == 2:
        for own, other in (pair, pair[::-1]):
            swapped[:, own.upper] = angles[:, other.upper]
            if own.lower is not None and other.lower is not None:
                swapped[:, own.lower] = angles[:, other.lower]
    return swapped
