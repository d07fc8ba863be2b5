"""The pose space on bodies that it never saw, beside baselines.

    python -m benchmarks.posespace out/poses_train.safetensors out/poses_measure.safetensors \
        out/pose-model/pose.safetensors

The two files are those of `akd pose collect --side training` and `--side measuring`. The zoo's
measuring side consists of whole species that never train.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.dataset import PoseSet, load_poses
from akd.posespace.diffusion import invert, levels, sample, walk
from akd.posespace.ik import Goals
from akd.posespace.intersect import TOUCH, intersection_depth
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import (
    area_under_curve,
    random_angles,
    swap_one_limb,
    twist_one_joint,
)
from akd.posespace.score import score
from akd.posespace.space import guided_ik
from benchmarks.posespace_baselines import (
    Features,
    frechet,
    gradient_ik,
    limits,
    nearest_retargeted,
    neighbours,
    random_features,
    random_within_limits,
    role_statistics,
    train_autoencoder,
)

FEWEST_TOKENS = 10
"""Bodies with fewer have no limbs to speak of."""
DIFFERENT = 1.0
"""A swapped limb must differ from its mirror image by this, 20 degrees: others are no error."""
GAUSSIAN_WEIGHT = 1e-3
"""Of the role Gaussians in gradient IK."""


def choose(poses: PoseSet, count: int, *, source: str, draw: torch.Generator) -> Tensor:
    """Rows of poses of one source, spread over its families."""
    families = defaultdict(list)
    tokens = poses.bodies.present.sum(-1)
    for row, body in enumerate(poses.body_of.tolist()):
        record = poses.records[body]
        # CMU's subjects train in the motion capture.
        known = source == "assets" and record.name.startswith("cmu_bvh/")
        if record.source == source and int(tokens[body]) >= FEWEST_TOKENS and not known:
            families[record.family].append(row)
    each = -(-count // max(len(families), 1))
    rows = []
    for family in families.values():
        order = torch.randperm(len(family), generator=draw)[:each]
        rows += [family[k] for k in order.tolist()]
    order = torch.randperm(len(rows), generator=draw)[:count]
    return torch.tensor(rows, dtype=torch.long)[order]


def trimmed(body: PoseBody) -> PoseBody:
    """A batch without padding that none of its bodies needs."""
    tokens = int(body.present.sum(-1).max())

    def cut(name: str) -> Tensor:
        value = getattr(body, name)[:, :tokens]
        return value[:, :, :tokens] if name == "relation" else value

    return PoseBody(**{f.name: cut(f.name) for f in fields(body)})


def plausibility(
    network: PoseNetwork, body: PoseBody, states: Tensor, draw: torch.Generator
) -> dict[str, float]:
    """Area under the ROC curve: true poses against the same poses spoilt."""
    true = score(network, body, states).poses
    spoilt = {"twist": twist_one_joint, "swap": swap_one_limb, "random": random_angles}
    areas = {}
    for name, spoil in spoilt.items():
        other = spoil(body, states, draw)
        least = DIFFERENT if name == "swap" else 0.3
        changed = (other - states).abs().amax((1, 2)) > least
        found = score(network, body[changed], other[changed]).poses
        areas[f"{name} ({int(changed.sum())})"] = area_under_curve(true[changed], found)
    return areas


def distributions(
    made: Mapping[str, Tensor],
    body: PoseBody,
    states: Tensor,
    number: Tensor,
    kinds: list[Features],
) -> dict[str, list[float]]:
    """Fréchet distances, precision, coverage, diversity, intersection, violations of ranges."""
    low, high = limits(body)
    joints = body.present.clone()
    joints[:, 0] = False
    half = len(states) // 2
    rows = {}
    for name, other in {"true": states, **made}.items():
        distances = []
        for features in kinds:
            real, found = features(body, states), features(body, other)
            pair = (real[:half], real[half:]) if name == "true" else (real, found)
            distances.append(frechet(*pair))
        near = neighbours(kinds[0](body, states), kinds[0](body, other))
        inside = intersection_depth(body, other) > TOUCH
        beyond = ((other < 1.1 * low) | (other > 1.1 * high))[joints]
        rates = [float(x.float().mean()) for x in (inside, beyond)]
        rows[name] = [*distances, *near, diversity(body, other, number), *rates]
    return rows


def diversity(body: PoseBody, states: Tensor, number: Tensor) -> float:
    """Mean distance of joints between two poses of the same body, body sizes."""
    places, _ = kinematics(body, states)
    a, b = torch.nonzero(torch.triu(number[:, None] == number, diagonal=1), as_tuple=True)
    apart = (places[a] - places[b]).norm(dim=-1) * body.present[a]
    return float((apart.sum(-1) / body.present[a].sum(-1)).mean())


def inversion(network: PoseNetwork, body: PoseBody, states: Tensor, heights: Tensor) -> Tensor:
    """Largest joint error of inverted and decoded poses, as a share of height."""
    noise = invert(network, body, states)
    back = walk(network, network.describe(body), noise, levels(24))
    apart = (kinematics(body, back)[0] - kinematics(body, states)[0]).norm(dim=-1)
    return (apart * body.present).amax(-1) / heights


def interpolation(
    network: PoseNetwork, body: PoseBody, states: Tensor, number: Tensor, pairs: int
) -> tuple[int, float, float, float]:
    """Pairs; share in which the decoded path is more plausible than joint space; intersections."""
    a, b = torch.nonzero(torch.triu(number[:, None] == number, diagonal=1), as_tuple=True)
    a, b = a[:pairs], b[:pairs]
    share = torch.linspace(0.0, 1.0, 7)[1:-1, None, None, None]
    angle = 0.5 * torch.pi * share
    one, other = invert(network, body[a], states[a]), invert(network, body[b], states[b])
    noise = (angle.cos() * one + angle.sin() * other).flatten(0, 1)
    batch = body[a.repeat(len(share))]
    decoded = walk(network, network.describe(batch), noise, levels(24))
    straight = torch.lerp(states[a], states[b], share).flatten(0, 1)
    means, inside = [], []
    for path in (decoded, straight):
        means.append(score(network, batch, path).poses.unflatten(0, (len(share), -1)).mean(0))
        inside.append(float((intersection_depth(batch, path) > TOUCH).float().mean()))
    return len(a), float((means[0] < means[1]).float().mean()), *inside


@torch.no_grad()
def ik_errors(
    network: PoseNetwork, train: PoseSet, poses: PoseSet, rows: Tensor, draw: torch.Generator
) -> dict[str, Tensor]:
    """Handle error and mean error of the other joints, shares of height; score; seconds."""
    found = defaultdict(list)
    for row in rows.tolist():
        record = poses.records[int(poses.body_of[row])]
        body = trimmed(poses.bodies[poses.body_of[row : row + 1]])
        truth, _ = kinematics(body, poses.states[row : row + 1, : record.tokens])
        count = int(torch.randint(1, 5, (), generator=draw))
        chosen = 1 + torch.randperm(record.tokens - 1, generator=draw)[:count]
        goals = Goals(chosen, truth[0, chosen], torch.zeros(0, dtype=torch.long), torch.zeros(0, 3))
        mean, deviation = role_statistics(train, body)
        rest = torch.zeros_like(mean)
        ways = {
            "pose space": partial(guided_ik, network, body, goals, rest),
            "gradient": partial(
                gradient_ik, body, goals, mean=rest, deviation=torch.ones_like(rest), weight=0.0
            ),
            "Gaussians": partial(
                gradient_ik, body, goals, mean=mean, deviation=deviation, weight=GAUSSIAN_WEIGHT
            ),
        }
        others = torch.ones(record.tokens, dtype=torch.bool)
        others[chosen] = False
        for name, solve in ways.items():
            started = time.perf_counter()
            answer = solve()
            seconds = time.perf_counter() - started
            apart = (kinematics(body, answer)[0] - truth).norm(dim=-1)[0] / record.height
            value = float(score(network, body, answer).poses)
            found[name].append(
                [float(apart[chosen].max()), float(apart[others].mean()), value, seconds]
            )
    return {name: torch.tensor(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train", "measure", "weights"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--problems", type=int, default=170, help="of IK, for each source")
    parser.add_argument("--pairs", type=int, default=200, help="of interpolation")
    parser.add_argument("--sources", nargs="+", default=["zoo", "assets", "mocap"])
    options = parser.parse_args()
    network = load_model(options.weights)
    train, measure = load_poses(options.train), load_poses(options.measure)
    heights = torch.tensor([record.height for record in measure.records])
    kinds = [random_features, train_autoencoder(train)]
    for source in options.sources:
        draw = torch.Generator().manual_seed(1)
        rows = choose(measure, options.count, source=source, draw=draw)
        number = measure.body_of[rows]
        body = trimmed(measure.bodies[number])
        states = measure.states[rows, : body.tokens]
        families = len({measure.records[b].family for b in number.tolist()})
        print(f"\n{source}: {len(rows)} poses of {families} unseen families")
        areas = plausibility(network, body, states, draw)
        print("AUC   " + "  ".join(f"{name} {area:.3f}" for name, area in areas.items()))
        mean, deviation = role_statistics(train, body)
        noise = torch.randn(mean.shape, generator=draw)
        made = {
            "model": sample(network, body, generator=draw),
            "within limits": random_within_limits(body, draw),
            "role Gaussians": (mean + deviation * noise) * body.present[..., None],
            "retargeted": nearest_retargeted(train, body, draw),
        }
        print(
            "                Frechet  autoenc.  precision  coverage  diversity  intersect  beyond"
        )
        for name, values in distributions(made, body, states, number, kinds).items():
            print(f"{name:14}" + "".join(f"{value:10.4f}" for value in values), flush=True)
        few = slice(0, min(64, options.count))
        errors = inversion(network, body[few], states[few], heights[number[few]])
        print(f"inversion: median {errors.median():.4f}, p95 {errors.quantile(0.95):.4f} of height")
        pairs, wins, *inside = interpolation(network, body, states, number, options.pairs)
        print(
            f"interpolation: {pairs} pairs, more plausible than joint space in {wins:.2f}; "
            f"intersections {inside[0]:.3f} against {inside[1]:.3f}"
        )
        bound = float(score(network, body, states).poses.quantile(0.95))
        for name, values in ik_errors(
            network, train, measure, rows[: options.problems], draw
        ).items():
            handle, others, value, seconds = values.unbind(1)
            print(
                f"IK {name:10} handle p95 {handle.quantile(0.95):.4f}, rest {others.mean():.4f} of "
                f"height; {(value <= bound).float().mean():.2f} within 95 % of true scores; "
                f"{seconds.median():.2f} s p50, {seconds.quantile(0.95):.2f} s p95",
                flush=True,
            )


if __name__ == "__main__":
    main()
