"""What `benchmarks/posespace.py` measures: a section is a row of one model and one source."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import kinematics
from akd.posespace.dataset import PoseSet
from akd.posespace.diffusion import Steer, interpolate, inversion_levels, invert, sample, walk
from akd.posespace.ground import STANDING, ground_excess
from akd.posespace.guided_ik import IK_STEPS, guided_ik
from akd.posespace.ik import Goals
from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import (
    leave_ground,
    random_angles,
    swap_one_limb,
    twist_one_joint,
)
from akd.posespace.score import score
from akd.posespace.validate import between_guidance, body_validators, guidance, range_excess
from benchmarks.posespace_baselines import (
    LEVELS,
    Features,
    denoising_error,
    frechet,
    gradient_ik,
    nearest_retargeted,
    neighbours,
    random_features,
    random_within_limits,
    role_statistics,
)
from benchmarks.posespace_poses import Measured

Numbers = Mapping[str, "float | Numbers"]
DIFFERENT = 1.0
"""A swapped limb must differ from its mirror image by this, 20 degrees: others are no error."""
GAUSSIAN_WEIGHT = 1e-3
"""Of the role Gaussians in gradient IK."""
COLUMNS = (
    "Frechet", "autoencoder", "precision", "coverage", "diversity", "intersecting", "out of range",
    "off the ground",
)  # fmt: skip
SPOILT = {
    "twist": twist_one_joint, "swap": swap_one_limb, "random": random_angles,
    "ground": leave_ground,
}  # fmt: skip
STEPS, ROUNDS, BETWEEN = 24, 5, 5
"""Steps of sampling and inversion, usual evaluations of an inverted step, poses between two."""
MIXED_STEPS = 12
"""Steps of the inversions and the decoding of an interpolation."""


def area_under_curve(good: Float[Tensor, "N"], bad: Float[Tensor, "M"]) -> float:
    """Probability that a bad one scores above a good one (area under the ROC curve)."""
    both = torch.cat((good, bad)).double()
    order = both.argsort()
    ranks = torch.empty_like(both)
    ranks[order] = torch.arange(1, len(both) + 1, dtype=torch.float64).to(both)
    _, groups = both.unique(return_inverse=True)
    ties = both.new_zeros(int(groups.max()) + 1)
    mean = ties.clone().index_add(0, groups, ranks) / ties.index_add(
        0, groups, torch.ones_like(both)
    )
    above = mean[groups][len(good) :].sum() - len(bad) * (len(bad) + 1) / 2
    return float(above / (len(good) * len(bad)))


@dataclass(frozen=True)
class Sizes:
    """How much is measured of each source."""

    count: int
    """Poses: as many are sampled."""
    pairs: int
    """Interpolations."""
    problems: int
    """IK problems, of 1 to 4 handles in turn."""
    inverted: int = 200
    """Poses at most that are inverted and decoded."""
    brief: bool = False
    """Leave out samples without guidance, and the denoising error beside the judge."""


@dataclass(frozen=True)
class Problems:
    """IK problems of one number of handles, and the answers that need no model."""

    part: Measured
    goals: Goals
    truth: Tensor
    baselines: Mapping[str, Tensor]

    def errors(self, answer: Tensor) -> tuple[Tensor, Tensor]:
        """Largest handle error, and mean error of the other joints, as shares of height."""
        body, chosen = self.part.body, self.goals.tokens
        apart = (kinematics(body, answer)[0] - self.truth).norm(dim=-1)
        apart = apart / self.part.heights[:, None]
        others = body.present.scatter(1, chosen, False)
        return apart.gather(1, chosen).amax(-1), (apart * others).sum(-1) / others.sum(-1)


@dataclass(frozen=True)
class Bench:
    """One source of the measuring side, with what is the same for all models.

    Random numbers are those of a section, so that a row does not depend on the rows before it.
    """

    given: Measured
    train: PoseSet
    sizes: Sizes
    encoder: Features

    def draw(self, seed: int) -> torch.Generator:
        """Random numbers on the device of the run."""
        return torch.Generator(self.given.states.device).manual_seed(seed)

    @cached_property
    def statistics(self) -> tuple[Tensor, Tensor]:
        """Mean and deviation of each token's role."""
        return role_statistics(self.train, self.given.body)

    @cached_property
    def problems(self) -> list[Problems]:
        """Those of 1 to 4 handles, each number in one batch."""
        draw, found = self.draw(5), []
        total = min(self.sizes.problems, len(self.given.rows))
        for count in range(1, 5):
            rows = torch.arange(total, device=self.given.rows.device)[count - 1 :: 4]
            if not len(rows):
                continue
            part = self.given[rows]
            body, present = part.body, part.body.present
            truth, _ = kinematics(body, part.states)
            chance = torch.rand(*present.shape, generator=draw, device=truth.device) * present
            chance[:, 0] = 0.0
            chosen = chance.topk(count).indices
            goals = Goals.at(chosen, truth.gather(1, chosen[..., None].expand(-1, -1, 3)))
            mean, deviation = (x[rows, : body.tokens] for x in self.statistics)
            rest = torch.zeros_like(mean)
            both = torch.arange(len(rows), device=rows.device).repeat(2)
            weight = truth.new_tensor((0.0, GAUSSIAN_WEIGHT)).repeat_interleave(len(rows))
            answers = gradient_ik(
                body[both], Goals.at(chosen[both], goals.targets[both]),
                mean=torch.cat((rest, mean)),
                deviation=torch.cat((torch.ones_like(rest), deviation)), weight=weight,
            )  # fmt: skip
            free, likely = answers.split(len(rows))
            found.append(Problems(part, goals, truth, {"gradient": free, "Gaussians": likely}))
        return found


def _judges(network: PoseNetwork, bench: Bench) -> dict[str, Callable[..., Tensor]]:
    """What says how implausible poses are."""
    judge = {"judge": lambda body, states: score(network, body, states).poses}
    return judge if bench.sizes.brief else judge | {"denoising": partial(denoising_error, network)}


def plausibility(network: PoseNetwork, bench: Bench) -> Numbers:
    """Area under the ROC curve: true poses against the same poses spoilt."""
    body, states, draw = bench.given.body, bench.given.states, bench.draw(1)
    kinds = _judges(network, bench)
    true = {kind: value(body, states) for kind, value in kinds.items()}
    areas: dict[str, dict[str, float]] = defaultdict(dict)
    for name, spoil in SPOILT.items():
        other = spoil(body, states, draw)
        least = DIFFERENT if name == "swap" else 0.3
        changed = (other - states).abs().amax((1, 2)) > least
        for kind, value in kinds.items():
            found = value(body[changed], other[changed])
            areas[kind][name] = area_under_curve(true[kind][changed], found)
        areas["poses"][name] = int(changed.sum())
    return dict(areas)


def samples(network: PoseNetwork, bench: Bench) -> Numbers:
    """Samples of the model beside true poses, guided by the validators and as they come."""
    body = bench.given.body
    ways: dict[str, Steer | None] = {"model": guidance(body_validators(body))}
    if not bench.sizes.brief:
        ways["model, unguided"] = None
    made = {
        name: sample(network, body, steps=STEPS, generator=bench.draw(2), steer=steer)
        for name, steer in ways.items()
    }
    return distributions(made, bench)


def baselines(bench: Bench) -> Numbers:
    """Poses made without a model: samples, and answers of IK."""
    body, states, draw = bench.given.body, bench.given.states, bench.draw(3)
    mean, deviation = bench.statistics
    noise = torch.randn(mean.shape, generator=draw, device=mean.device)
    made = {
        "true": states,
        "within limits": random_within_limits(body, draw),
        "role Gaussians": (mean + deviation * noise) * body.present[..., None],
        "retargeted": nearest_retargeted(bench.train, body, draw),
    }
    return distributions(made, bench)


def distributions(made: Mapping[str, Tensor], bench: Bench) -> dict[str, dict[str, float]]:
    """`COLUMNS` of each way of making poses; true poses are compared half by half."""
    given, body = bench.given, bench.given.body
    joints = body.present.clone()
    joints[:, 0] = False
    kinds = [random_features, bench.encoder]
    real = [features(body, given.states) for features in kinds]
    half = len(given.states) // 2
    rows = {}
    for name, states in made.items():
        found = [features(body, states) for features in kinds]
        pairs = (
            [(x[:half], x[half:]) for x in real]
            if name == "true"
            else zip(real, found, strict=True)
        )
        inside = intersection_depth(body, states) > INTERSECTS
        beyond = (range_excess(body, states) > 0.0)[joints]
        aloft = ground_excess(body, states, highest=STANDING) > 0.0
        rates = [float(x.float().mean()) for x in (inside, beyond, aloft)]
        values = [
            *(frechet(*pair) for pair in pairs), *neighbours(real[0], found[0]),
            diversity(given, states), *rates,
        ]  # fmt: skip
        rows[name] = dict(zip(COLUMNS, values, strict=True))
    return rows


def diversity(given: Measured, states: Tensor) -> float:
    """Mean distance of joints between two poses of the same body, body sizes."""
    places, _ = kinematics(given.body, states)
    a, b = given.pairs(4000)
    apart = (places[a] - places[b]).norm(dim=-1) * given.body.present[a]
    return float((apart.sum(-1) / given.body.present[a].sum(-1)).mean())


def inversion(network: PoseNetwork, bench: Bench) -> Numbers:
    """Largest joint error of inverted and decoded poses, as a share of height."""
    given = bench.given[slice(0, bench.sizes.inverted)]
    noise = invert(network, given.body, given.states, steps=STEPS)
    back = walk(network, network.describe(given.body), noise, inversion_levels(STEPS))
    apart = kinematics(given.body, back)[0] - kinematics(given.body, given.states)[0]
    errors = (apart.norm(dim=-1) * given.body.present).amax(-1) / given.heights
    return {"median": float(errors.median()), "p95": float(errors.quantile(0.95))}


def interpolation(network: PoseNetwork, bench: Bench) -> Numbers:
    """Share of pairs whose decoded path is more plausible than joint space; intersections."""
    given = bench.given
    a, b = given.pairs(bench.sizes.pairs)
    body, first, last = given.body[a], given.states[a], given.states[b]
    shares = torch.linspace(0.0, 1.0, BETWEEN + 2).to(first)[1:-1]
    steer = between_guidance(body, first, last, shares)
    ways = {
        "decoded": interpolate(
            network, body, first, last, shares, steps=MIXED_STEPS, steer=steer
        ),
        "straight": torch.lerp(first, last, shares[:, None, None, None]),
    }  # fmt: skip
    index = torch.arange(len(a), device=a.device).repeat(len(shares))
    batch, found = body[index], {"pairs": float(len(a))}
    means: dict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, path in ways.items():
        flat = path.flatten(0, 1)
        inside = intersection_depth(batch, flat) > INTERSECTS
        found[f"{name} intersecting"] = float(inside.float().mean())
        for kind, value in _judges(network, bench).items():
            means[kind][name] = value(batch, flat)
    for kind, values in means.items():
        one, other = (
            values[name].unflatten(0, (len(shares), -1)).mean(0) for name in ("decoded", "straight")
        )
        found[f"{kind} wins"] = float((one < other).float().mean())
    return found


def ik(network: PoseNetwork, bench: Bench) -> Numbers:
    """Handle error, error of the rest of the body, and the share of plausible answers."""
    found: dict[str, list[Tensor]] = defaultdict(list)
    for problems in bench.problems:
        body = problems.part.body
        rest = torch.zeros_like(problems.part.states)
        answers = {
            "pose space": guided_ik(network, body, problems.goals, rest), **problems.baselines
        }  # fmt: skip
        for name, answer in answers.items():
            value = score(network, body, answer).poses
            found[name].append(torch.stack((*problems.errors(answer), value), dim=-1))
    bound = score(network, bench.given.body, bench.given.states).poses.quantile(0.95)
    return {
        name: {
            "problems": len(values := torch.cat(rows)),
            "handle p95": float(values[:, 0].quantile(0.95)),
            "handles within 2 %": float((values[:, 0] < 0.02).float().mean()),
            "rest": float(values[:, 1].mean()),
            "plausible": float((values[:, 2] <= bound).float().mean()),
        }
        for name, rows in found.items()
    }


@torch.no_grad()
def ik_seconds(network: PoseNetwork, given: Measured) -> Numbers:
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


@dataclass(frozen=True)
class Section:
    """One row of a model and a source."""

    measure: Callable[[PoseNetwork, Bench], Numbers]
    evaluations: Callable[[Sizes], int]
    """Poses that the network sees, at most."""


def _judged(sizes: Sizes) -> int:
    """Evaluations of a pose by the judge, and by denoising error."""
    return 1 if sizes.brief else 1 + len(LEVELS)


SECTIONS = {
    "samples": Section(samples, lambda n: (1 if n.brief else 2) * STEPS * n.count),
    "AUC": Section(plausibility, lambda n: _judged(n) * (1 + len(SPOILT)) * n.count),
    "IK": Section(ik, lambda n: (IK_STEPS + 8) * n.problems + n.count),
    "interpolation": Section(
        interpolation,
        lambda n: (
            n.pairs * (2 * MIXED_STEPS * ROUNDS + BETWEEN * (MIXED_STEPS + 1 + 2 * _judged(n)))
        ),
    ),
    "inversion": Section(
        inversion, lambda n: STEPS * (ROUNDS + 1) * min(n.inverted, n.count)
    ),
}  # fmt: skip
"""In the order of the run: the claim first."""
QUERIES = ("IK", "interpolation", "inversion")
"""Sections of what the model that ships is asked; the others compare models."""
