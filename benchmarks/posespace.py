"""The pose space on bodies that it never saw, beside baselines.

    python -m benchmarks.posespace out/poses_train.safetensors out/poses_measure.safetensors \
        true=out/true.safetensors both=out/both.safetensors --device cuda --processes 9 -o out/bench

The two files are those of `akd pose collect --side training` and `--side measuring`. Needs torch,
numpy and safetensors only. The zoo's measuring side consists of whole species that never train.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.posespace.body import kinematics
from akd.posespace.dataset import PoseSet, load_poses
from akd.posespace.diffusion import interpolate, invert, levels, sample, walk
from akd.posespace.ground import STANDING, ground_excess
from akd.posespace.ik import Goals, guided_ik
from akd.posespace.intersect import TOUCH, intersection_depth
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import (
    area_under_curve,
    leave_ground,
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
from benchmarks.posespace_poses import Measured, choose

DIFFERENT = 1.0
"""A swapped limb must differ from its mirror image by this, 20 degrees: others are no error."""
GAUSSIAN_WEIGHT = 1e-3
"""Of the role Gaussians in gradient IK."""
COLUMNS = (
    "Frechet", "autoencoder", "precision", "coverage", "diversity", "intersecting", "out of range",
    "off the ground",
)  # fmt: skip


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
    spoilt = {
        "twist": twist_one_joint, "swap": swap_one_limb, "random": random_angles,
        "ground": leave_ground,
    }  # fmt: skip
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
        aloft = ground_excess(body, other, highest=STANDING) > 0.0
        rates = [float(x.float().mean()) for x in (inside, beyond, aloft)]
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
def ik_seconds(network: PoseNetwork, given: Measured) -> dict[str, float]:
    """Seconds of single queries; the first five are for warming up."""
    seconds, draw = [], torch.Generator(given.states.device).manual_seed(1)
    for k in range(len(given.rows)):
        part = given[slice(k, k + 1)]
        truth, _ = kinematics(part.body, part.states)
        chance = torch.rand(part.body.tokens - 1, generator=draw, device=truth.device)
        chosen = 1 + chance.topk(1 + k % 4).indices[None]
        goals = Goals.at(chosen, truth[:, chosen[0]])
        started = time.perf_counter()
        guided_ik(network, part.body, goals, torch.zeros_like(part.states)).cpu()
        seconds.append(time.perf_counter() - started)
    found = torch.tensor(seconds[5:] or seconds)
    return {"p50": float(found.quantile(0.5)), "p95": float(found.quantile(0.95))}


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


@dataclass(frozen=True)
class Part:
    """One model on one source: what a process measures at a time."""

    model: str
    weights: Path
    source: str
    options: argparse.Namespace
    encoder: Features


def measure_part(part: Part) -> dict[str, object]:
    """All numbers of a part."""
    torch.set_num_threads(part.options.threads)
    train, poses = _load(part.options)
    network = load_model(part.weights, device=part.options.device)
    given = _given(poses, part.source, part.options)
    return measure(network, train, given, [random_features, part.encoder], part.options)


def _load(options: argparse.Namespace) -> tuple[PoseSet, PoseSet]:
    train, poses = (load_poses(p).to(options.device) for p in (options.train, options.measure))
    return train, poses


def _given(poses: PoseSet, source: str, options: argparse.Namespace) -> Measured:
    rows = choose(poses, options.count, source=source, draw=torch.Generator().manual_seed(1))
    return Measured.of(poses, rows.to(options.device))


def claim(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Samples of each model against those of `true`: ratios, 1 for the same."""
    return {
        f"{name}, {source}": {
            column: found["samples"]["model"][column] / reference["samples"]["model"][column]
            for column in ("Frechet", "autoencoder", "diversity")
        }
        for name, sources in results.items()
        for source, found in sources.items()
        if name != "true" and (reference := results.get("true", {}).get(source))
    }


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
    parser.add_argument("--processes", type=int, default=1, help="a model and a source each")
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--out", type=Path, help="folder for posespace.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train, poses = _load(options)
    encoder = train_autoencoder(train)
    models = {text.rpartition("=")[0]: Path(text.rpartition("=")[2]) for text in options.weights}
    parts = [
        Part(name, weights, source, options, encoder)
        for name, weights in models.items()
        for source in options.sources
    ]
    results: dict[str, dict[str, Any]] = defaultdict(dict)
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for part, found in zip(parts, pool.map(measure_part, parts), strict=True):
            print(f"\n{part.model}, {part.source}")
            show(found)
            results[part.model][part.source] = found
            _write(options.out, results)
    show({"ratio to true": claim(results)})
    if options.timed:  # alone on the device: all models have one size
        network = load_model(next(iter(models.values())), device=options.device)
        for source in options.sources:
            given = _given(poses, source, options)[slice(0, options.timed + 5)]
            results["IK seconds"][source] = ik_seconds(network, given)
        show({"IK seconds": results["IK seconds"]})
        _write(options.out, results)


def _write(out: Path | None, results: Mapping[str, object]) -> None:
    if out is not None:
        write_json(out / "posespace.json", results)


if __name__ == "__main__":
    main()
