"""Seconds of an IK query of the pose space: p50 and p95 over many.

    python -m benchmarks.posespace_speed [--device cuda] [--queries 200] [--animal fox]

A query asks one to four joints of a body of the zoo to be where they are in another pose, with the
feet that stand held as softly as `akd pose ik` holds them. It is timed from the goals to the answer
on the CPU. The first queries of each number of goals load kernels; they are timed apart. `residual`
is the largest distance of a handle from its target, in body sizes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

import akd
from akd.export.creature import write_creature
from akd.posespace.body import PoseBody, kinematics
from akd.posespace.codec import PoseCodec
from akd.posespace.guided_ik import guided_ik
from akd.posespace.ik import Goals, Spot
from akd.posespace.model import load_model
from akd.posespace.stand import standing_feet
from akd.zoo.creature import build_creature

_WARM = 12
"""Queries before the timed ones: three of each number of handles."""


def body_of(animal: str) -> PoseBody:
    """What the pose model knows of a creature of the zoo."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{animal}.glb"
        write_creature(build_creature(animal), [], path)
        return PoseCodec.of(akd.load(path)).body


def goals_of(body: PoseBody, number: int, draw: torch.Generator) -> Goals:
    """One to four joints where another pose has them, and feet on the ground."""
    pose = 0.4 * torch.randn(1, body.tokens, 3, generator=draw)
    pose[:, 0] = 0.0
    places, _ = kinematics(body.expand(1), pose)
    order = 1 + torch.randperm(body.tokens - 1, generator=draw)
    handles = {Spot(int(token)): places[0, token] for token in order[: 1 + number % 4]}
    neutral = torch.zeros(body.tokens, 3)
    feet = standing_feet(body, neutral, moved={spot.token for spot in handles})
    return Goals.of(body, neutral, handles=handles, look={}, pin=(), stand=feet)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--animal", default="fox")
    options = parser.parse_args()
    device = torch.device(options.device)
    network, body = load_model(device=device), body_of(options.animal)
    draw = torch.Generator().manual_seed(1)
    one, start = body.expand(1), torch.zeros(1, body.tokens, 3)
    seconds, residuals = [], []
    for number in range(_WARM + options.queries):
        goals = goals_of(body, number, draw)
        began = time.perf_counter()
        found = guided_ik(network, one, goals, start).cpu()
        seconds.append(time.perf_counter() - began)
        residuals.append(float(goals.residual(one, found)))
    first, rest = seconds[:_WARM], torch.tensor(seconds[_WARM:])
    print(f"IK of {options.animal}, {body.tokens} tokens, {device}: {len(rest)} queries")
    print(f"  first {_WARM}: {sum(first):.2f} s in all, longest {max(first):.2f} s")
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        print(f"  {name} {1000.0 * float(rest.quantile(share)):8.1f} ms")
    print(f"  residual, median {float(torch.tensor(residuals).median()):.4f} body sizes")


if __name__ == "__main__":
    main()
