"""The diffusion process over poses: noise, sampling and inversion by DDIM.

Variance preserving, cosine: x_t = cos(pi t / 2) x + sin(pi t / 2) noise, t in 0..1. Every token may
have a noise level of its own; a token at level zero is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.network import Condition, PoseNetwork

T_MAX = 0.995
"""Highest level of sampling and of inversion: what is left of the state there is 0.8 %."""
MIX_LEVEL = 0.5
"""Noise level at which `interpolate` mixes two poses."""
PROJECT_LEVEL = 0.3
"""Noise level of the projection of poses half-way between two. Both chosen on the training side."""
_BEND = 1.5
"""Exponent of the levels of an inversion. A long step next to level zero hardly has an inverse: it
ends at the clean estimate, which is nearly the same for many noisy states."""
_CLOSE, _MOST_ROUNDS = 1e-3, 12
"""Change of a state's numbers (0.02 degrees) at which a step counts as inverted, and rounds of
fixed-point iteration at most."""
Steer = Callable[[Float[Tensor, "B J 3"], float], Float[Tensor, "B J 3"]]
"""Changes a clean estimate at a noise level: guidance."""


def signal_and_noise(t: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """Factors of the state and of the noise at level t."""
    angle = 0.5 * math.pi * t
    return angle.cos(), angle.sin()


def levels(steps: int, *, top: float = T_MAX) -> list[float]:
    """Noise levels of a walk in `steps` steps from `top` to zero."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    return [top * (1.0 - k / steps) for k in range(steps + 1)]


def inversion_levels(steps: int, *, top: float = T_MAX) -> list[float]:
    """Noise levels of an inversion and of the walk back, from `top` to zero: finer towards zero."""
    return [top * (level / top) ** _BEND for level in levels(steps, top=top)]


def denoise(
    network: PoseNetwork,
    given: Condition,
    noisy: Float[Tensor, "B J 3"],
    t: Float[Tensor, "B J"] | float,
) -> Float[Tensor, "B J 3"]:
    """The clean estimate of noisy states; `t` is the noise level of each token."""
    if not isinstance(t, Tensor):
        t = noisy.new_full(noisy.shape[:2], t)
    velocity = network(noisy, t, given)
    alpha, sigma = (x[..., None] for x in signal_and_noise(t))
    return alpha * noisy - sigma * velocity


def walk(
    network: PoseNetwork,
    given: Condition,
    noisy: Float[Tensor, "B J 3"],
    schedule: Sequence[float],
    *,
    steer: Steer | None = None,
    known: tuple[Bool[Tensor, "B J"], Float[Tensor, "B J 3"]] | None = None,
) -> Float[Tensor, "B J 3"]:
    """Deterministic DDIM down along noise levels.

    Args:
        network: The model.
        given: Its bodies.
        noisy: States at the first level.
        schedule: Noise levels, falling.
        steer: Guidance on the clean estimate of each step.
        known: Tokens whose state is given, and the state: they stay at level zero.

    Returns:
        States at the last level.
    """
    x = noisy
    for now, after in pairwise(schedule):
        t = x.new_full(x.shape[:2], now)
        if known is not None:
            t = t.masked_fill(known[0], 0.0)
            x = torch.where(known[0][..., None], known[1], x)
        clean = denoise(network, given, x, t)
        if steer is not None:
            clean = steer(clean, now)
        alpha, sigma = signal_and_noise(t)
        noise = (x - alpha[..., None] * clean) / sigma[..., None].clamp_min(1e-4)
        alpha_after, sigma_after = signal_and_noise(x.new_tensor(after))
        x = alpha_after * clean + sigma_after * noise
        x = x * given.body.present[..., None]
    return x if known is None else torch.where(known[0][..., None], known[1], x)


@torch.no_grad()
def sample(
    network: PoseNetwork,
    body: PoseBody,
    *,
    steps: int = 24,
    generator: torch.Generator,
    steer: Steer | None = None,
) -> Float[Tensor, "B J 3"]:
    """Random plausible states, one for each body of the batch."""
    shape = (*body.present.shape, 3)
    noise = torch.randn(shape, generator=generator, device=generator.device).to(body.pivots)
    return walk(network, network.describe(body), noise, levels(steps), steer=steer)


@torch.no_grad()
def interpolate(
    network: PoseNetwork,
    body: PoseBody,
    a: Float[Tensor, "B J 3"],
    b: Float[Tensor, "B J 3"],
    shares: Float[Tensor, "S"],
    *,
    steps: int = 12,
    steer: Steer | None = None,
) -> Float[Tensor, "S B J 3"]:
    """Poses from `a` to `b` at shares 0..1 of the way: inverted, mixed, decoded, and projected.

    Both poses are inverted to `MIX_LEVEL` and mixed linearly. Their noises partly cancel half-way,
    where the decoded pose is therefore more typical than both. Mixing on the sphere at the highest
    level keeps the noise's variance: in-betweens are as unusual as the ends, and further from them.
    A projection, strongest half-way, leaves the ends as they are.

    `steer` takes the states of all shares in one batch, share after share.
    """
    one, other = (invert(network, body, x, steps=steps, top=MIX_LEVEL) for x in (a, b))
    noisy = torch.lerp(one, other, shares[:, None, None, None]).flatten(0, 1)
    index = torch.arange(len(a), device=a.device).repeat(len(shares))
    given = network.describe(body)[index]
    decoded = walk(network, given, noisy, inversion_levels(steps, top=MIX_LEVEL), steer=steer)
    level = PROJECT_LEVEL * (math.pi * shares).sin().clamp_min(0.0)
    t = level.repeat_interleave(len(a))[:, None].expand(decoded.shape[:2])
    alpha, _ = signal_and_noise(t)
    projected = denoise(network, given, alpha[..., None] * decoded, t)
    if steer is not None:
        projected = steer(projected, PROJECT_LEVEL)
    return (projected * given.body.present[..., None]).unflatten(0, (len(shares), -1))


@torch.no_grad()
def invert(
    network: PoseNetwork,
    body: PoseBody,
    state: Float[Tensor, "B J 3"],
    *,
    steps: int = 24,
    top: float = T_MAX,
) -> Float[Tensor, "B J 3"]:
    """DDIM inversion: states at level `top` that `walk` along `inversion_levels` turns into these.

    A step of DDIM is x' = cos(d) x - sin(d) v(x), d the angle between the levels. Each is solved
    for x by fixed-point iteration until x rests, which makes the inversion exact.
    """
    given, x = network.describe(body), state
    for now, after in pairwise(inversion_levels(steps, top=top)[::-1]):
        angle = 0.5 * math.pi * (after - now)
        t, guess = x.new_full(x.shape[:2], after), x
        moves = torch.ones_like(x[:, :1, :1], dtype=torch.bool)
        for _ in range(_MOST_ROUNDS):
            velocity = network(guess, t, given)
            better = (x + math.sin(angle) * velocity) / math.cos(angle) * body.present[..., None]
            change = (better - guess).abs().amax((1, 2), keepdim=True)
            # A pose that rests stays, so that it does not depend on the others of its batch.
            guess = torch.where(moves, better, guess)
            moves = moves & (change >= _CLOSE)
            if not bool(moves.any()):
                break
        x = guess
    return x
