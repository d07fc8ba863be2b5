"""Whether a video shows a character in its colours."""

from __future__ import annotations

import torch

from akd.fit.observation import Observation
from akd.fit.view_search import ViewGuess, canvas_camera, canvas_scale, focal_of, onto_canvas
from akd.scene.compose import render_body
from akd.scene.stage import Stage

_ALIKE = 0.08
"""Colours that differ by less (root mean square, sRGB) are the character's own."""


@torch.no_grad()
def colours_agree(stage: Stage, observation: Observation, guess: ViewGuess) -> bool:
    """Whether the video has the character's colours, but for a tint, where both are seen."""
    camera = canvas_camera(
        stage, guess.azimuth, guess.elevation, guess.distance(focal_of(observation))
    )
    seen = render_body(
        stage.cloud, stage.neutral[None].to(stage.cloud.means), camera, settings=stage.scene,
        bone_colours=stage.bone_colours, renderer=stage.renderer, check=False,
    )  # fmt: skip
    factor = canvas_scale(stage) / guess.scale
    video = onto_canvas(observation.frames.movedim(-1, 1), guess.places, factor)
    masks = onto_canvas(observation.masks[:, None], guess.places, factor)
    own = seen.colour.movedim(-1, 1).expand_as(video)
    both = ((1.0 - seen.transmittance[:, None]) * masks > 0.9).expand_as(video)
    if not bool(both.any()):
        return False
    total = both.sum((0, 2, 3)).clamp_min(1)
    means = [(both * x).sum((0, 2, 3)) / total for x in (video, own)]
    tint = (means[0] / means[1].clamp_min(1e-3)).clamp(0.5, 2.0)
    away = (video - own * tint[:, None, None])[both].square().mean().sqrt()
    spread = (video - means[0][:, None, None])[both].square().mean().sqrt()
    return float(away) < max(_ALIKE, 0.95 * float(spread))
