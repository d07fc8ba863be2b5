"""The pose space on bodies that it never saw: plausibility, distributions, inversion and IK.

    python -m benchmarks.posespace out/poses_train.safetensors out/poses_measure.safetensors \
        out/pose-model/pose.safetensors

The two files are those of `akd pose collect --side training` and `--side measuring`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import torch
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.dataset import PoseSet, load_poses
from akd.posespace.diffusion import invert, levels, sample, walk
from akd.posespace.ik import Goals, reach
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import (
    area_under_curve,
    random_angles,
    swap_one_limb,
    twist_one_joint,
)
from akd.posespace.score import score
from akd.posespace.settings import ANGLE_UNIT

FEWEST_TOKENS = 10
"""Bodies with fewer have no limbs to speak of."""


def choose(poses: PoseSet, count: int, *, source: str, draw: torch.Generator) -> Tensor:
    """Rows of poses of one source, spread over its families."""
    families = defaultdict(list)
    tokens = poses.bodies.present.sum(-1)
    for row, body in enumerate(poses.body_of.tolist()):
        if poses.records[body].source == source and int(tokens[body]) >= FEWEST_TOKENS:
            families[poses.records[body].family].append(row)
    each = -(-count // max(len(families), 1))
    rows = []
    for family in families.values():
        order = torch.randperm(len(family), generator=draw)[:each]
        rows += [family[k] for k in order.tolist()]
    order = torch.randperm(len(rows), generator=draw)[:count]
    return torch.tensor(rows, dtype=torch.long)[order]


def plausibility(network: PoseNetwork, body: PoseBody, states: Tensor, seed: int) -> dict:
    """Area under the ROC curve: true poses against the same poses spoilt."""
    draw = torch.Generator().manual_seed(seed)
    true = score(network, body, states).poses
    spoilt = {"twist": twist_one_joint, "swap": swap_one_limb, "random": random_angles}
    areas = {}
    for name, spoil in spoilt.items():
        other = spoil(body, states, draw)
        changed = (other - states).abs().amax((1, 2)) > 0.05
        found = score(network, body, other).poses
        areas[name] = area_under_curve(true[changed], found[changed])
    return areas


def limits_baseline(body: PoseBody, draw: torch.Generator) -> Tensor:
    """Random angles within the joints' limits."""
    share = 2.0 * torch.rand(*body.present.shape, 3, generator=draw) - 1.0
    forth, back = body.features[..., 4:7], body.features[..., 7:10]
    return torch.where(share > 0, share * forth, share * back) / ANGLE_UNIT


def role_gaussians(train: PoseSet, body: PoseBody, draw: torch.Generator) -> Tensor:
    """Each joint from the Gaussian of all training poses of the same part, limb and side."""
    total, square, count = (torch.zeros(16 * 9 * 4, n) for n in (3, 3, 1))

    def keys(roles: Tensor) -> Tensor:
        return (roles[..., 0] * 9 + roles[..., 1]) * 4 + roles[..., 2]

    present = train.bodies.present[train.body_of]
    key, states = keys(train.bodies.roles[train.body_of])[present], train.states[present]
    total.index_add_(0, key, states)
    square.index_add_(0, key, states**2)
    count.index_add_(0, key, torch.ones(len(key), 1))
    mean = total / count.clamp_min(1.0)
    deviation = (square / count.clamp_min(1.0) - mean**2).clamp_min(1e-4).sqrt()
    here = keys(body.roles)
    noise = torch.randn(*here.shape, 3, generator=draw)
    return (mean[here] + deviation[here] * noise) * body.present[..., None]


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
    first = torch.randn(inputs.shape[-1] + 26, width, generator=draw) / 3.0
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


def distributions(
    network: PoseNetwork, train: PoseSet, body: PoseBody, states: Tensor, seed: int
) -> dict[str, tuple[float, float, float, float]]:
    """Fréchet distance, precision, coverage and diversity of samples and of the baselines."""
    draw = torch.Generator().manual_seed(seed)
    made = {
        "model": sample(network, body, generator=draw),
        "limits": limits_baseline(body, draw),
        "role Gaussians": role_gaussians(train, body, draw),
    }
    half = len(states) // 2
    real = random_features(body, states)
    rows = {"true (halves)": (frechet(real[:half], real[half:]), 1.0, 1.0, _spread(body, states))}
    for name, other in made.items():
        features = random_features(body, other)
        precision, coverage = neighbours(real, features)
        rows[name] = (frechet(real, features), precision, coverage, _spread(body, other))
    return rows


def _spread(body: PoseBody, states: Tensor) -> float:
    """Mean distance of joints between each pose and another of the same batch's order."""
    places, _ = kinematics(body, states)
    neutral, _ = kinematics(body, torch.zeros_like(states))
    away = (places - neutral).norm(dim=-1) * body.present
    return float(away.sum() / body.present.sum())


def inversion(network: PoseNetwork, body: PoseBody, states: Tensor, heights: Tensor) -> Tensor:
    """Largest joint error of inverted and decoded poses, as a share of height."""
    noise = invert(network, body, states)
    back = walk(network, network.describe(body), noise, levels(24))
    apart = (kinematics(body, back)[0] - kinematics(body, states)[0]).norm(dim=-1)
    return (apart * body.present).amax(-1) / heights


@torch.no_grad()
def ik_errors(
    network: PoseNetwork, poses: PoseSet, rows: Tensor, seed: int
) -> dict[str, list[tuple[float, float]]]:
    """Handle error and mean error of the other joints, shares of height: guided and plain IK."""
    draw = torch.Generator().manual_seed(seed)
    found = defaultdict(list)
    for row in rows.tolist():
        number = int(poses.body_of[row])
        tokens = poses.records[number].tokens
        height = poses.records[number].height
        batch = poses.bodies[number : number + 1]
        state = poses.states[row : row + 1]
        truth, _ = kinematics(batch, state)
        count = int(torch.randint(1, 5, (), generator=draw))
        chosen = 1 + torch.randperm(tokens - 1, generator=draw)[:count]
        goals = Goals(chosen, truth[0, chosen], torch.zeros(0, dtype=torch.long), torch.zeros(0, 3))
        zero = torch.zeros_like(state)
        guided = walk(
            network, network.describe(batch), zero, levels(10, top=0.8),
            steer=lambda clean, _, b=batch, g=goals: reach(b, clean, g, rounds=2),
        )  # fmt: skip
        answers = {
            "pose space": reach(batch, guided, goals, rounds=12),
            "least squares": reach(batch, zero, goals, rounds=30),
        }
        for name, answer in answers.items():
            apart = (kinematics(batch, answer)[0] - truth).norm(dim=-1)[0, :tokens] / height
            others = torch.ones(tokens, dtype=torch.bool)
            others[chosen] = False
            found[name].append((float(apart[chosen].max()), float(apart[others].mean())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train", "measure", "weights"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--problems", type=int, default=100)
    options = parser.parse_args()
    network = load_model(options.weights)
    train, measure = load_poses(options.train), load_poses(options.measure)
    heights = torch.tensor([record.height for record in measure.records])
    for source in ("assets", "mocap", "zoo"):
        draw = torch.Generator().manual_seed(1)
        rows = choose(measure, options.count, source=source, draw=draw)
        body, states = measure.bodies[measure.body_of[rows]], measure.states[rows]
        families = len({measure.records[b].family for b in measure.body_of[rows].tolist()})
        print(f"\n{source}: {len(rows)} poses of {families} unseen families")
        areas = plausibility(network, body, states, 2)
        print("AUC   " + "  ".join(f"{name} {area:.3f}" for name, area in areas.items()))
        print("                 Frechet  precision  coverage  displacement")
        for name, values in distributions(network, train, body, states, 3).items():
            print(f"{name:16}" + "".join(f"{value:9.4f}" for value in values))
        few = slice(0, 64)
        errors = inversion(network, body[few], states[few], heights[measure.body_of[rows][few]])
        print(f"inversion: median {errors.median():.4f}, p95 {errors.quantile(0.95):.4f} of height")
        for name, pairs in ik_errors(network, measure, rows[: options.problems], 4).items():
            handle, others = (torch.tensor(column) for column in zip(*pairs, strict=True))
            print(
                f"IK {name:14} handle p95 {handle.quantile(0.95):.4f}, rest {others.mean():.4f} "
                "of height"
            )


if __name__ == "__main__":
    main()
