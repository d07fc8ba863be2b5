"""Where a posed body is seen: its image, moved until it looks like the video.

The video is cut out around the body as a guessed direction has it.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.limb_search import LimbTarget, chain, image_costs
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings
from akd.fit.view_search import ViewGuess, canvas_scale, focal_of, onto_canvas
from akd.scene.stage import Stage

_REACH = 5
"""Pixels of the canvas by which the body may be off, each way."""
_JUMP = 2e-4
"""Cost of a change of the shift from frame to frame, per pixel squared, against a mean square
difference."""


def limb_target(
    stage: Stage, observation: Observation, guess: ViewGuess, settings: FitSettings
) -> LimbTarget:
    """What the limbs are searched in: the video as the guess has it."""
    factor = canvas_scale(stage) / guess.scale
    premultiplied = observation.frames * observation.masks[..., None]
    colours = onto_canvas(premultiplied.movedim(-1, 1), guess.places, factor)
    masks = onto_canvas(observation.masks[:, None], guess.places, factor)
    return LimbTarget.of(
        colours, masks, azimuth=guess.azimuth, elevation=guess.elevation,
        distance=guess.distance(focal_of(observation)),
        colour=settings.colour / max(settings.silhouette, 1e-9),
    )  # fmt: skip


def placed_again(
    stage: Stage,
    observation: Observation,
    guess: ViewGuess,
    images: Float[Tensor, "T 4 N N"],
    settings: FitSettings,
) -> ViewGuess:
    """The guess with the places at which the body's images look most like the video."""
    shifts = find_shifts(images, limb_target(stage, observation, guess, settings).image)
    return replace(guess, places=guess.places + shifts * guess.scale / canvas_scale(stage))


@torch.no_grad()
def find_shifts(
    images: Float[Tensor, "T c N N"], wanted: Float[Tensor, "T c N N"]
) -> Float[Tensor, "T 2"]:
    """How far, right and down in pixels, each image must be moved to look most like the other.

    Colours count: an outline alone does not tell a body that leans from one that stands elsewhere.
    """
    steps = torch.arange(-_REACH, _REACH + 1)
    shifts = torch.cartesian_prod(steps, steps)
    costs = torch.stack([_apart(images, wanted, *shift) for shift in shifts.tolist()], dim=1)
    best = chain(costs, shifts.float().to(costs.device), jump=_JUMP)
    side = len(steps)
    table = costs.unflatten(1, (side, side))
    rows = torch.arange(len(table), device=table.device)
    at = torch.stack((best // side, best % side), dim=1).clamp(1, side - 2)
    x, y = at.unbind(1)
    across = torch.stack([table[rows, x + d, y] for d in (-1, 0, 1)])
    down = torch.stack([table[rows, x, y + d] for d in (-1, 0, 1)])
    return torch.stack((x + _lowest(across), y + _lowest(down)), dim=1) - _REACH


def _apart(images: Tensor, wanted: Tensor, x: int, y: int) -> Float[Tensor, "T"]:
    # A canvas has room around the body, so that nothing of it comes in again on the other side.
    away = torch.roll(images, (y, x), dims=(-2, -1)) - wanted
    return image_costs(away)


def _lowest(costs: Float[Tensor, "3 T"]) -> Float[Tensor, "T"]:
    """Where the parabola through three values, a pixel apart, has its lowest point."""
    bend = costs[0] - 2.0 * costs[1] + costs[2]
    slope = 0.5 * (costs[0] - costs[2])
    return torch.where(bend > 1e-12, slope / bend.clamp_min(1e-12), 0.0).clamp(-0.5, 0.5)
