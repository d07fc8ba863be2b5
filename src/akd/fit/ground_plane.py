"""Where the ground is under a fitted motion: as high as the feet come down."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.scene.stage import Stage

_STANDS = 0.2
"""Of all frames at least this share has a foot on the ground."""


@torch.no_grad()
def ground_height(stage: Stage, transforms: Float[Tensor, "T B 4 4"]) -> float:
    """Height that the lowest foot, or without feet the lowest point, keeps coming down to."""
    if stage.sole_points is not None:
        low = stage.sole_points.at(transforms)[0].amin(-1)
    else:
        from akd.scene.follow import bounding_boxes

        low = bounding_boxes(stage.ground_points, transforms)[0][:, 1]
    return float(low.float().quantile(_STANDS))
