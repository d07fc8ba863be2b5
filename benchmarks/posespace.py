"""The pose space on bodies that it never saw, beside baselines.

    python -m benchmarks.posespace out/poses_train.safetensors out/poses_measure.safetensors \
        true=out/true.safetensors harvest=out/harvest.safetensors --device cuda -o out/bench

The two files are those of `akd pose collect --side training` and `--side measuring`. Needs torch,
numpy and safetensors only. The zoo's measuring side consists of whole species that never train.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.posespace.body import PoseBody, kinematics
from akd.posespace.dataset import PoseSet, load_poses
from akd.posespace.diffusion import interpolate, invert, levels, sample, walk
from akd.posespace.ik import Goals, guided_ik
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
from akd.posespace.validate import between_guidance, body_validators, guidance, range_excess
from benchmarks.posespace_baselines import (
    Features,
    denoising_error,
    frechet,
    gradient_ik,
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
COLUMNS = (
    "Frechet", "autoencoder", "precision", "coverage", "diversity", "intersecting", "out of range",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Poses of one source of the measuring side, on the device of the run."""

    poses: PoseSet
    rows: Tensor
    body: PoseBody
    states: Tensor
    number: Tensor
    """Body of each pose."""
    heights: Tensor
    """Of each pose's body, body sizes."""

    @classmethod
    def of(cls, poses: PoseSet, rows: Tensor) -> Measured:
        number = poses.body_of[rows]
        body = trimmed(poses.bodies[number])
        heights = torch.tensor([record.height for record in poses.records]).to(poses.states)
        return cls(poses, rows, body, poses.states[rows, : body.tokens], number, heights[number])

    def __getitem__(self, index: Tensor | slice) -> Measured:
        return Measured.of(self.poses, self.rows[index])

    def pairs(self, most: int) -> tuple[Tensor, Tensor]:
        """Two poses of the same body each."""
        same = torch.triu(self.number[:, None] == self.number, diagonal=1)
        a, b = torch.nonzero(same, as_tuple=True)
        order = torch.randperm(len(a), generator=torch.Generator().manual_seed(2))[:most]
        return a[order.to(a.device)], b[order.to(a.device)]


def choose(poses: PoseSet, count: int, *, source: str, draw: torch.Generator) -> Tensor:
    """Rows of poses of one source, spread over its families."""
    families = defaultdict(list)
    tokens = poses.bodies.present.sum(-1).tolist()
    for row, body in enumerate(poses.body_of.tolist()):
        record = poses.records[body]
        if record.source == source and tokens[body] >= FEWEST_TOKENS:
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
    network: PoseNetwork, given: Measured, draw: torch.Generator
) -> dict[str, dict[str, float]]:
    """Area under the ROC curve: true poses against the same poses spoilt."""
    body, states = given.body, given.states
    kinds = {
        "judge": lambda body, states: score(network, body, states).poses,
        "denoising": partial(denoising_error, network),
    }
    true = {kind: value(body, states) for kind, value in kinds.items()}
    spoilt = {"twist": twist_one_joint, "swap": swap_one_limb, "random": random_angles}
    areas: dict[str, dict[str, float]] = defaultdict(dict)
    for name, spoil in spoilt.items():
        other = spoil(body, states, draw)
        least = DIFFERENT if name == "swap" else 0.3
        changed = (other - states).abs().amax((1, 2)) > least
        for kind, value in kinds.items():
            found = value(body[changed], other[changed])
            areas[kind][name] = area_under_curve(true[kind][changed], found)
        areas["poses"][name] = int(changed.sum())
    return dict(areas)


def distributions(
    made: Mapping[str, Tensor], given: Measured, kinds: list[Features]
) -> dict[str, list[float]]:
    """For each way of making poses the values of `COLUMNS`."""
    body, states = given.body, given.states
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
        beyond = (range_excess(body, other) > 0.0)[joints]
        rates = [float(x.float().mean()) for x in (inside, beyond)]
        rows[name] = [*distances, *near, diversity(given, other), *rates]
    return rows


def diversity(given: Measured, states: Tensor) -> float:
    """Mean distance of joints between two poses of the same body, body sizes."""
    places, _ = kinematics(given.body, states)
    a, b = given.pairs(4000)
    apart = (places[a] - places[b]).norm(dim=-1) * given.body.present[a]
    return float((apart.sum(-1) / given.body.present[a].sum(-1)).mean())


def inversion(network: PoseNetwork, given: Measured) -> Tensor:
    """Largest joint error of inverted and decoded poses, as a share of height."""
    noise = invert(network, given.body, given.states)
    back = walk(network, network.describe(given.body), noise, levels(24))
    apart = kinematics(given.body, back)[0] - kinematics(given.body, given.states)[0]
    return (apart.norm(dim=-1) * given.body.present).amax(-1) / given.heights


def interpolation(network: PoseNetwork, given: Measured, pairs: int) -> dict[str, float]:
    """Share of pairs whose decoded path is more plausible than joint space; intersections."""
    a, b = given.pairs(pairs)
    body, first, last = given.body[a], given.states[a], given.states[b]
    shares = torch.linspace(0.0, 1.0, 7).to(first)[1:-1]
    steer = between_guidance(body, first, last, shares)
    ways = {
        "decoded": interpolate(network, body, first, last, shares, steer=steer),
        "straight": torch.lerp(first, last, shares[:, None, None, None]),
    }
    index = torch.arange(len(a), device=a.device).repeat(len(shares))
    batch, found = body[index], {"pairs": float(len(a))}
    means: dict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, path in ways.items():
        flat = path.flatten(0, 1)
        inside = intersection_depth(batch, flat) > TOUCH
        found[f"{name} intersecting"] = float(inside.float().mean())
        means["judge"][name] = score(network, batch, flat).poses
        means["denoising"][name] = denoising_error(network, batch, flat)
    for kind, values in means.items():
        one, other = (
            values[name].unflatten(0, (len(shares), -1)).mean(0) for name in ("decoded", "straight")
        )
        found[f"{kind} wins"] = float((one < other).float().mean())
    return found


@torch.no_grad()
def ik_errors(
    network: PoseNetwork, train: PoseSet, given: Measured, draw: torch.Generator
) -> dict[str, Tensor]:
    """Rows of problems: handle error and mean error of the other joints, shares of height; score.

    Problems of 1 to 4 handles in turn, those of a number solved together.
    """
    found = defaultdict(list)
    for count in range(1, 5):
        part = given[torch.arange(count - 1, len(given.rows), 4, device=given.rows.device)]
        if not len(part.rows):
            continue
        body, present = part.body, part.body.present
        truth, _ = kinematics(body, part.states)
        chance = torch.rand(*present.shape, generator=draw, device=truth.device) * present
        chance[:, 0] = 0.0
        chosen = chance.topk(count).indices
        goals = Goals.at(chosen, truth.gather(1, chosen[..., None].expand(-1, -1, 3)))
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
        others = present.scatter(1, chosen, False)
        for name, solve in ways.items():
            answer = solve()
            apart = (kinematics(body, answer)[0] - truth).norm(dim=-1) / part.heights[:, None]
            handle = apart.gather(1, chosen).amax(-1)
            rest_error = (apart * others).sum(-1) / others.sum(-1)
            value = score(network, body, answer).poses
            found[name].append(torch.stack((handle, rest_error, value), dim=-1))
    return {name: torch.cat(values).cpu() for name, values in found.items()}


@torch.no_grad()
def ik_seconds(network: PoseNetwork, given: Measured, draw: torch.Generator) -> list[float]:
    """Times of single queries, sorted; the first ones are for warming up."""
    seconds = []
    for k in range(len(given.rows)):
        part = given[slice(k, k + 1)]
        truth, _ = kinematics(part.body, part.states)
        chance = torch.rand(part.body.tokens - 1, generator=draw, device=truth.device)
        chosen = 1 + chance.topk(1 + k % 4).indices[None]
        goals = Goals.at(chosen, truth[:, chosen[0]])
        started = time.perf_counter()
        guided_ik(network, part.body, goals, torch.zeros_like(part.states)).cpu()
        seconds.append(time.perf_counter() - started)
    return sorted(seconds[5:] or seconds)


def measure(
    network: PoseNetwork, train: PoseSet, given: Measured, kinds: list[Features],
    options: argparse.Namespace,
) -> dict[str, object]:  # fmt: skip
    """All numbers of one model on one source."""
    draw = torch.Generator(given.states.device).manual_seed(1)
    body, states = given.body, given.states
    found: dict[str, object] = {"AUC": plausibility(network, given, draw)}
    mean, deviation = role_statistics(train, body)
    noise = torch.randn(mean.shape, generator=draw, device=mean.device)
    steer = guidance(body_validators(body))
    made = {
        "model": sample(network, body, generator=draw, steer=steer),
        "model, unguided": sample(network, body, generator=draw),
        "within limits": random_within_limits(body, draw),
        "role Gaussians": (mean + deviation * noise) * body.present[..., None],
        "retargeted": nearest_retargeted(train, body, draw),
    }
    found["samples"] = {
        name: dict(zip(COLUMNS, values, strict=True))
        for name, values in distributions(made, given, kinds).items()
    }
    errors = inversion(network, given[slice(0, 200)])
    found["inversion"] = {"median": float(errors.median()), "p95": float(errors.quantile(0.95))}
    found["interpolation"] = interpolation(network, given, options.pairs)
    bound = float(score(network, body, states).poses.quantile(0.95))
    problems = ik_errors(network, train, given[slice(0, options.problems)], draw)
    found["IK"] = {
        name: {
            "problems": len(values), "handle p95": float(values[:, 0].quantile(0.95)),
            "handles within 2 %": float((values[:, 0] < 0.02).float().mean()),
            "rest": float(values[:, 1].mean()),
            "plausible": float((values[:, 2] <= bound).float().mean()),
        }
        for name, values in problems.items()
    }  # fmt: skip
    if options.timed:
        seconds = ik_seconds(network, given[slice(0, options.timed + 5)], draw)
        found["IK seconds"] = {
            "p50": seconds[len(seconds) // 2], "p95": seconds[int(0.95 * (len(seconds) - 1))],
        }  # fmt: skip
    return found


def show(found: Mapping[str, object], indent: str = "  ") -> None:
    """Print nested numbers, one line for each innermost table."""
    for name, value in found.items():
        if not isinstance(value, Mapping):
            print(f"{indent}{name}: {value}")
        elif any(isinstance(inner, Mapping) for inner in value.values()):
            print(f"{indent}{name}")
            show(value, indent + "  ")
        else:
            numbers = "  ".join(f"{key} {number:.4g}" for key, number in value.items())
            print(f"{indent}{name:16} {numbers}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("measure", type=Path)
    parser.add_argument("weights", nargs="+", help="NAME=FILE")
    parser.add_argument("--count", type=int, default=600, help="poses of each source")
    parser.add_argument("--problems", type=int, default=168, help="of IK, for each source")
    parser.add_argument("--pairs", type=int, default=200, help="of interpolation")
    parser.add_argument("--timed", type=int, default=0, help="single IK queries that are timed")
    parser.add_argument("--sources", nargs="+", default=["zoo", "assets", "mocap"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--out", type=Path, help="folder for posespace.json")
    options = parser.parse_args()
    train, poses = (load_poses(p).to(options.device) for p in (options.train, options.measure))
    kinds = [random_features, train_autoencoder(train)]
    results: dict[str, dict[str, object]] = {}
    for text in options.weights:
        name, _, path = text.rpartition("=")
        network = load_model(Path(path), device=options.device)
        results[name] = {}
        for source in options.sources:
            draw = torch.Generator().manual_seed(1)
            rows = choose(poses, options.count, source=source, draw=draw)
            given = Measured.of(poses, rows.to(options.device))
            families = len({poses.records[b].family for b in given.number.tolist()})
            print(f"\n{name}, {source}: {len(rows)} poses of {families} unseen families")
            found = measure(network, train, given, kinds, options)
            show(found)
            results[name][source] = found
            if options.out is not None:
                write_json(options.out / "posespace.json", results)


if __name__ == "__main__":
    main()
