"""Substeps a second of the simulator against Newton, and a whole tracking run.

    python -m benchmarks.physics                      one core: ours, Newton eager and captured
    python -m benchmarks.physics --device cuda --ours-only    environments from 1 to 4,096

A Newton substep here is one step of its own solver. It is explicit and needs several for one of
ours: the column "per simulated second" takes that into account.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable

import torch

from akd.math import quaternion
from akd.physics.body import Body, State
from akd.physics.parameters import Parameters, scale_parameters
from akd.physics.simulator import Simulator, WarpSimulator
from akd.physics.tracking import TargetMotion, track
from tests.physics.bodies_for_tests import quadruped

REPEATS = 5


def best(run: Callable[[], None], repeats: int = REPEATS) -> float:
    """Shortest of several times, seconds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def in_body_units() -> tuple[Body, Parameters]:
    body = quadruped()
    body = body.scaled(length=1 / body.height, mass=1 / body.mass)
    return body, scale_parameters(body, gravity=1.0)


def standing(body: Body, environments: int, device: str) -> State:
    state = State.neutral(body, dtype=torch.float32)
    # Not exactly zero: Newton takes angles out of rotations, which has no derivative there.
    angles = state.angles + 0.01
    parts = (state.position, state.rotation, angles, *state.parts()[3:])
    return State(*(p.expand(environments, *p.shape).contiguous() for p in parts)).to(device)


def walk(frames: int = 48, fps: float = 8.0) -> TargetMotion:
    """A quadruped's trot, as long as the paper's clips."""
    t = torch.arange(frames, dtype=torch.float64) / fps
    phase, ramp = 2 * math.pi * t, (t / 0.3).clamp(0.0, 1.0)
    angles = torch.zeros(frames, 12, 3, dtype=torch.float64)
    for leg, shift in enumerate((0.0, math.pi, math.pi, 0.0)):
        bend = (-torch.cos(phase + shift)).clamp_min(0.0) ** 1.5 * 0.6 * ramp
        angles[:, 3 * leg, 0] = 0.22 * torch.sin(phase + shift) * ramp + 0.45 * bend
        angles[:, 3 * leg + 1, 0] = -bend
        angles[:, 3 * leg + 2, 0] = bend - angles[:, 3 * leg, 0]
    x = torch.cumsum(0.5 * ramp / fps, 0)
    position = torch.stack((x, torch.full_like(x, 0.56), torch.zeros_like(x)), -1)
    return TargetMotion(position, quaternion.identity(frames, like=position), angles, fps)


def time_rollout(
    simulator: Simulator, start: State, targets: torch.Tensor, device: str
) -> tuple[float, float]:
    """Seconds of the forward and of the backward pass."""
    leaf = targets.clone().requires_grad_()
    spans = []

    def wait() -> None:
        if device != "cpu":
            torch.cuda.synchronize()

    for _ in range(REPEATS + 1):
        wait()
        begin = time.perf_counter()
        states = simulator.rollout(start, leaf, clip=5.0)
        wait()
        middle = time.perf_counter()
        (states.angles[:, -1].sum() + states.position[:, -1].sum()).backward()
        wait()
        spans.append((middle - begin, time.perf_counter() - middle))
    # The first includes compilation and capture.
    return min(s[0] for s in spans[1:]), min(s[1] for s in spans[1:])


def compare_with_newton(substeps: int = 600, inner: int = 8) -> None:
    from akd.physics.newton_simulator import NewtonSimulator

    body, parameters = in_body_units()
    start, targets = standing(body, 1, "cpu"), torch.zeros(1, substeps, 12, 3)
    per_second = 1.0 / (parameters.step * math.sqrt(quadruped().height / 9.81))
    rows = []
    ours = time_rollout(WarpSimulator(body, parameters), start, targets, "cpu")
    rows.append(("ours", ours, substeps, 1))
    for name, capture, count in (
        ("newton, captured", True, substeps),
        ("newton, eager", False, 60),
    ):
        simulator = NewtonSimulator(body, parameters, inner_steps=inner, capture=capture)
        spans = time_rollout(simulator, start, targets[:, :count], "cpu")
        rows.append((name, spans, count * inner, inner))
    print(f"one environment, {len(body)} parts, float32, best of {REPEATS}")
    print("                    us a substep                       substeps       ms of work for")
    print("                    forward  backward  both   a second  one simulated second")
    total = {}
    for name, (ahead, back), count, steps in rows:
        a, b = ahead / count * 1e6, back / count * 1e6
        total[name] = a + b
        work = (a + b) * steps * per_second / 1000
        print(f"  {name:17s} {a:8.2f} {b:9.2f} {a + b:7.2f} {1e6 / (a + b):9.0f} {work:12.1f}")
    for name in ("newton, captured", "newton, eager"):
        ratio = total[name] / total["ours"]
        print(f"  {name} / ours: {ratio:.1f} a substep, {ratio * inner:.1f} a simulated second")


def whole_tracking() -> None:
    begin, worked = time.perf_counter(), time.process_time()
    body, target = quadruped(), walk()
    feet = torch.tensor([name.endswith("foot") for name in body.names])
    result = track(body, target, feet=feet)
    span, worked = time.perf_counter() - begin, time.process_time() - worked
    print(
        f"tracking 48 frames, {len(result.targets)} substeps, {len(result.losses) - 1} iterations: "
        f"{span:.1f} s with compilation, {worked:.1f} s of the processor; "
        f"error {100 * result.error:.2f} % of body height"
    )


def many_environments(device: str, substeps: int = 240) -> None:
    body, parameters = in_body_units()
    simulator = WarpSimulator(body, parameters, device=device, scratch_bytes=4 * 2**30)
    begin = time.perf_counter()
    targets = torch.zeros(1, 8, 12, 3, device=device)
    simulator.rollout(standing(body, 1, device), targets)
    if device != "cpu":
        torch.cuda.synchronize()
    print(f"compilation and first launch: {time.perf_counter() - begin:.1f} s")
    print("environments   forward    backward   substeps a second, all environments")
    print("               us a substep            forward       both")
    for environments in (1, 4, 16, 64, 256, 1024, 4096):
        start = standing(body, environments, device)
        targets = torch.zeros(environments, substeps, 12, 3, device=device)
        ahead, back = time_rollout(simulator, start, targets, device)
        all_steps = environments * substeps
        print(
            f"{environments:12d} {ahead / substeps * 1e6:10.1f} {back / substeps * 1e6:11.1f} "
            f"{all_steps / ahead:14.3g} {all_steps / (ahead + back):12.3g}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--cold", action="store_true", help="compile in an empty cache folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity") and options.device == "cpu":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if options.cold:
        import tempfile

        import warp as wp

        wp.config.kernel_cache_dir = tempfile.mkdtemp()
    if options.device != "cpu":
        many_environments(options.device)
        return
    whole_tracking()
    if not options.ours_only:
        compare_with_newton()


if __name__ == "__main__":
    main()
