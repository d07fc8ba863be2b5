"""Self-intersection of posed bodies."""

import torch

from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.posespace.settings import ANGLE_UNIT


def test_legs_turned_into_each_other_intersect(codec):
    body, roles = codec.body, [str(role) for role in codec.rig.roles]
    states = torch.zeros(3, body.tokens, 3)
    for side in ("left", "right"):
        token = 1 + roles.index(f"{side} hind upper")
        states[1, token, 1], states[2, token, 1] = -0.4 / ANGLE_UNIT, 0.4 / ANGLE_UNIT
    states.requires_grad_()
    depth = intersection_depth(body.expand(3), states)
    neutral, inwards, outwards = depth.tolist()
    assert neutral == outwards == 0.0
    assert inwards > INTERSECTS
    (slope,) = torch.autograd.grad(depth.sum(), states)
    assert bool(slope.isfinite().all())
    assert float(slope[1].abs().max()) > 0.0
