"""From where the camera sees the body: outlines first, then the body with its limbs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from akd.fit.limb_search import Limb, search_limbs
from akd.fit.observation import Observation
from akd.fit.placing import limb_target, placed_again
from akd.fit.settings import FitSettings
from akd.fit.view_search import (
    APART,
    ELEVATIONS,
    STEP,
    ViewGuess,
    angle_between,
    look_from,
    search_views,
)
from akd.scene.stage import Stage

PITCHES = (-0.14, 0.0, 0.14)
"""Pitch of the root that is tried, radians: who runs leans."""
FEW = 8
"""Frames in which directions and pitches are compared."""


def find_directions(
    stage: Stage, observation: Observation, limbs: list[Limb], settings: FitSettings
) -> list[ViewGuess]:
    """The direction in which body and limbs look most like the video, refined, and the next best
    one that is far from it."""
    elevations = ELEVATIONS
    if observation.camera is not None:
        view = observation.camera.camera_from_world[0, 2, :3]
        elevations = (-math.asin(max(-1.0, min(1.0, float(view[1])))),)
    guesses = search_views(stage, observation, elevations=elevations)
    if not limbs:
        return guesses[:2]

    chosen = torch.linspace(0, len(observation) - 1, min(FEW, len(observation))).round().long()
    some = observation.at(chosen)

    def residual(guess: ViewGuess) -> float:
        """With the body upright, or leaning as one that runs, and placed with its limbs."""
        left = []
        for pitch in PITCHES[1:]:
            own, found = replace(guess, places=guess.places[chosen.to(guess.places.device)]), None
            for rounds in (0, 1, 1):
                target = replace(limb_target(stage, some, own, settings), pitch=pitch)
                found = search_limbs(stage, limbs, [target], rounds=rounds, like=found)
                own = placed_again(stage, some, own, found.images[0], settings)
            assert found is not None
            left.append(found.residual)
        return min(left)

    costs = {guess: residual(guess) for guess in guesses}
    best = min(costs, key=costs.__getitem__)

    def try_from(ways: Sequence[tuple[float, float]]) -> ViewGuess:
        for azimuth, elevation in ways:
            guess = look_from(stage, observation, azimuth, elevation)
            costs[guess] = residual(guess)
        return min(costs, key=costs.__getitem__)

    # Outlines alone may have ranked a neighbour higher that hides the right direction.
    for turn in (2.0 * STEP, STEP) if observation.azimuth is None else ():
        best = try_from([(best.azimuth + way, best.elevation) for way in (-turn, turn)])
    try_from([(best.azimuth, height) for height in elevations if height != best.elevation])
    ranked = sorted(costs, key=costs.__getitem__)
    far = [g for g in ranked if angle_between(g.azimuth, ranked[0].azimuth) > APART]
    return [ranked[0], *far[:1]]
