"""Starts of a fit to a video: the candidates that are optimised, chosen among all directions."""

from __future__ import annotations

from collections.abc import Sequence

from akd.fit.candidate import Candidate
from akd.fit.directions import find_directions
from akd.fit.limb_search import find_limbs
from akd.fit.limb_starts import GAIT, READ, SIDED, as_read, with_limbs
from akd.fit.observation import Observation
from akd.fit.reading import regressor_for
from akd.fit.settings import FitSettings
from akd.scene.stage import Stage

_SIDED = 4
"""Starts with the sides of a gait, beside the others: fore and hind legs as found and exchanged."""


def make_starts(
    stage: Stage, observations: Sequence[Observation], settings: FitSettings, *, fps: float
) -> tuple[list[Candidate], float]:
    """Candidates to optimise: directions of the camera, legs as found and exchanged.

    Returns:
        The candidates; and what the best direction leaves of the video as a share of what the other
        one leaves, 0 where there is no other.
    """
    limbs = find_limbs(stage) if settings.limb_search else []
    regressor = regressor_for(stage, settings)
    ranked = [find_directions(stage, observation, limbs, settings) for observation in observations]
    pairings = [tuple(guesses[0] for guesses in ranked)]
    if len(observations) == 1 and len(ranked[0]) > 1:
        pairings.append((ranked[0][1],))
    found, least = [], []
    for guesses in pairings:
        own = with_limbs(stage, observations, guesses, limbs, settings, fps)
        least.append(min(left for left, _ in own))
        found += own
        if regressor is not None:
            found += as_read(stage, observations, guesses, regressor, settings, fps)
    rivalry = min(least) / max(*least, 1e-9) if len(least) > 1 else 0.0
    # Where one direction is clearly wrong, more exchanges of the other's legs are tried.
    found.sort(key=lambda pair: pair[0])
    kinds = (GAIT, SIDED, READ)
    gaits, sided, read = ([c for _, c in found if kind in c.name] for kind in kinds)
    free = [c for _, c in found if not any(kind in c.name for kind in kinds)]
    # A gait leaves more of the video than poses that are free in every frame, right or wrong; so
    # does what was read.
    kept = [*read[: settings.starts // 4], *gaits][: settings.starts // 2]
    others = max(1, settings.starts - len(kept))
    kept += sided[:_SIDED] if settings.starts > 1 else []
    return [*free[:others], *kept], rivalry
