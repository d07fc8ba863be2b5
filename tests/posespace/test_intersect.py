"""Self-intersection of posed bodies."""

import torch

from akd.posespace.intersect import TOUCH, intersection_depth
from akd.posespace.settings import ANGLE_UNIT


def test_a_leg_turned_into_the_other_intersects_it(codec):
    body = codec.body
    states = torch.zeros(2, body.tokens, 3)
    roles = [str(role) for role in codec.rig.roles]
    for side in ("left", "right"):
        states[1, 1 + roles.index(f"{side} hind upper"), 1] = -1.0 / ANGLE_UNIT
    other = -states
    for turned in (states, other):
        turned.requires_grad_()
    depths = [intersection_depth(body.expand(2), turned) for turned in (states, other)]
    assert all(float(depth[0].detach()) == 0.0 for depth in depths)
    values = [float(depth[1].detach()) for depth in depths]
    assert max(values) > TOUCH > min(values)
    deepest = depths[values.index(max(values))]
    (slope,) = torch.autograd.grad(deepest.sum(), states if deepest is depths[0] else other)
    assert bool(slope.isfinite().all())
