"""Baselines and features for the benchmark of the pose space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.dataset import PoseSet
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.ik import Goals
from akd.posespace.network import PoseNetwork
from akd.posespace.validate import state_limits

Features = Callable[[PoseBody, Tensor], Tensor]
LEVELS = (0.04, 0.08, 0.12, 0.2)
"""Noise levels of the denoising error. Chosen on the training side."""
_ROLES = (16, 9, 4)
"""Sizes of the tables of parts, limbs and sides."""


def random_within_limits(body: PoseBody, draw: torch.Generator) -> Tensor:
    """Uniform random angles within the joints' limits; the root at rest."""
    low, high = state_limits(body)
    share = torch.rand(*body.present.shape, 3, generator=draw, device=low.device)
    states = torch.lerp(low, high, share)
    states[:, 0] = 0.0
    return states


def role_keys(roles: Tensor) -> Tensor:
    """One number for part, limb and side."""
    return (roles[..., 0] * _ROLES[1] + roles[..., 1]) * _ROLES[2] + roles[..., 2]


def role_statistics(train: PoseSet, body: PoseBody) -> tuple[Tensor, Tensor]:
    """Mean and deviation of each token over all training poses of the same role."""
    size = _ROLES[0] * _ROLES[1] * _ROLES[2]
    total, square, count = (train.states.new_zeros(size, n) for n in (3, 3, 1))
    present = train.bodies.present[train.body_of]
    key, states = role_keys(train.bodies.roles[train.body_of])[present], train.states[present]
    total.index_add_(0, key, states)
    square.index_add_(0, key, states**2)
    count.index_add_(0, key, count.new_ones(len(key), 1))
    mean = total / count.clamp_min(1.0)
    deviation = (square / count.clamp_min(1.0) - mean**2).clamp_min(1e-4).sqrt()
    here = role_keys(body.roles)
    return mean[here] * body.present[..., None], deviation[here]


def nearest_retargeted(train: PoseSet, body: PoseBody, draw: torch.Generator) -> Tensor:
    """A random pose of the training body that shares most roles, copied role by role."""
    keys = role_keys(train.bodies.roles)
    states = torch.zeros_like(body.pivots)
    found: dict[tuple[int, ...], int] = {}
    for row, (roles, present) in enumerate(zip(role_keys(body.roles), body.present, strict=True)):
        wanted = tuple(roles[present].tolist())
        if wanted not in found:
            same = (keys[:, :, None] == roles[present]) & train.bodies.present[..., None]
            extra = train.bodies.present.sum(-1) - same.any(2).sum(-1)
            found[wanted] = int((same.any(1).sum(-1) - 0.5 * extra).argmax())
        number = found[wanted]
        poses = torch.nonzero(train.body_of == number)[:, 0]
        place = torch.randint(len(poses), (1,), generator=draw, device=poses.device)
        pose = train.states[poses[place[0]]]
        same = (keys[number] == roles[:, None]) & train.bodies.present[number]
        has = same.any(-1) & present
        states[row, has] = pose[same.float().argmax(-1)[has]]
    return states


def gradient_ik(
    body: PoseBody,
    goals: Goals,
    *,
    mean: Tensor,
    deviation: Tensor,
    weight: Tensor,
    iterations: int = 150,
) -> Tensor:
    """Adam from the rest pose within the joints' limits, near Gaussians of a weight a problem.

    Adam scales each number on its own: a batch is solved as its problems would be one by one.
    """
    low, high = state_limits(body)
    free = torch.zeros_like(mean).requires_grad_()
    optimiser = torch.optim.Adam([free], lr=0.05)
    with torch.enable_grad():
        for _ in range(iterations):
            likely = ((free - mean) / deviation).square().mean((1, 2))
            loss = goals.errors(*kinematics(body, free)).square().sum() + (weight * likely).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                free.copy_(free.clamp(low, high))
    return free.detach()


def frechet(a: Tensor, b: Tensor) -> float:
    """Fréchet distance of Gaussians fitted to two sets of features."""
    mean = (a.mean(0) - b.mean(0)).square().sum()
    one, other = torch.cov(a.T.double()), torch.cov(b.T.double())
    values, vectors = torch.linalg.eigh(one)
    root = vectors @ torch.diag(values.clamp_min(0).sqrt()) @ vectors.T
    cross = torch.linalg.eigvalsh(root @ other @ root).clamp_min(0).sqrt().sum()
    return float(mean + one.trace() + other.trace() - 2.0 * cross)


def random_features(body: PoseBody, states: Tensor, width: int = 64) -> Tensor:
    """Features of a fixed random network of the joints' positions and rotations."""
    places, turned = kinematics(body, states)
    inputs = torch.cat((4.0 * places, turned.flatten(-2)), dim=-1)
    draw = torch.Generator().manual_seed(17)
    first = torch.randn(inputs.shape[-1] + 26, width, generator=draw).to(inputs) / 3.0
    parts = torch.nn.functional.one_hot(body.roles[..., 0], 16)
    sides = torch.nn.functional.one_hot(body.roles[..., 2], 4)
    limbs = torch.nn.functional.one_hot(body.roles[..., 1].clamp_max(5), 6)
    tokens = torch.cat((inputs, parts, sides, limbs), dim=-1)
    hidden = torch.sin(tokens @ first) * body.present[..., None]
    return hidden.sum(1) / body.present.sum(-1, keepdim=True)


def neighbours(real: Tensor, made: Tensor, k: int = 5) -> tuple[float, float]:
    """Precision and coverage with k nearest neighbours of the real features."""
    radius = torch.cdist(real, real).kthvalue(k + 1, dim=-1).values
    apart = torch.cdist(made, real)
    inside = apart <= radius
    return float(inside.any(1).float().mean()), float(inside.any(0).float().mean())


def train_autoencoder(
    train: PoseSet, *, width: int = 24, count: int = 4000, steps: int = 400
) -> Features:
    """Encoder of an autoencoder of wide random features, trained on poses of the training side."""
    draw = torch.Generator().manual_seed(23)
    rows = torch.randperm(len(train), generator=draw)[:count]
    rows = rows.to(train.states.device)
    wide = random_features(train.bodies[train.body_of[rows]], train.states[rows], width=256)
    mean, deviation = wide.mean(0), wide.std(0).clamp_min(1e-3)
    torch.manual_seed(23)
    encoder = nn.Sequential(nn.Linear(256, 128), nn.GELU(), nn.Linear(128, width)).to(wide)
    decoder = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, 256)).to(wide)
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    inputs = (wide - mean) / deviation
    with torch.enable_grad():
        for _ in range(steps):
            batch = inputs[torch.randint(len(inputs), (256,), generator=draw).to(inputs.device)]
            loss = (decoder(encoder(batch)) - batch).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    return Encoder(encoder.cpu().requires_grad_(False), mean.cpu(), deviation.cpu())


@dataclass(frozen=True)
class Encoder:
    """Features of an autoencoder, on any device; can be sent to another process."""

    layers: nn.Module
    mean: Tensor
    deviation: Tensor

    def __call__(self, body: PoseBody, states: Tensor) -> Tensor:
        """The code of each pose."""
        wide = random_features(body, states, width=256)
        layers = self.layers.to(wide)
        return layers((wide - self.mean.to(wide)) / self.deviation.to(wide))


@torch.no_grad()
def denoising_error(
    network: PoseNetwork, body: PoseBody, states: Tensor, *, noise_levels: Sequence[float] = LEVELS
) -> Tensor:
    """How far the denoiser moves states: standard deviations of the noise, over all tokens.

    The states are scaled as at a noise level but not noised: noise would be averaged away again.
    """
    given = network.describe(body)
    joints = states.new_zeros(states.shape[:2])
    for level in noise_levels:
        alpha, sigma = (float(x) for x in signal_and_noise(torch.tensor(level)))
        error = denoise(network, given, alpha * states, level) - states
        joints += error.norm(dim=-1) * body.present / (sigma * len(noise_levels))
    return (joints.square().sum(-1) / body.present.sum(-1)).sqrt()
