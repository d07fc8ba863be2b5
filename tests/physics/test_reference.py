"""The kernel against its definition: values and gradients, in the air and on the ground."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from akd.physics.body import State
from akd.physics.parameters import scale_parameters
from akd.physics.simulator import WarpSimulator
from tests.physics.bodies_for_tests import quadruped, random_tree, scattered
from tests.physics.reference import rollout_reference


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("height", [-0.01, 2.0])
def test_kernel_matches_the_reference(seed: int, height: float) -> None:
    body = random_tree(seed) if seed else quadruped()
    parameters = scale_parameters(body)
    start = scattered(body, seed, height=height)
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randn(20, len(body) - 1, 3, generator=generator, dtype=torch.float64)
    up = torch.tensor((0.1, 1.0, -0.2), dtype=torch.float64)
    up = (up / up.norm()).expand(20, 3)

    def leaves() -> list[torch.Tensor]:
        return [t.clone().requires_grad_() for t in (*start.parts(), targets)]

    simulator = WarpSimulator(body, parameters, dtype=torch.float64)
    fast_inputs, slow_inputs = leaves(), leaves()
    fast = simulator.rollout(State(*(t[None] for t in fast_inputs[:6])), fast_inputs[6][None], up)[
        0
    ]
    slow = rollout_reference(body, parameters, State(*slow_inputs[:6]), slow_inputs[6], up)
    for a, b in zip(fast.parts(), slow.parts(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
    weights = [torch.randn(p.shape, generator=generator, dtype=p.dtype) for p in slow.parts()]
    for state in (fast, slow):
        sum((w * p).sum() for w, p in zip(weights, state.parts(), strict=True)).backward()
    for name, a, b in zip(
        (
            "position", "rotation", "angles",
            "velocity", "angular_velocity", "joint_velocity", "targets",
        ),
        fast_inputs, slow_inputs, strict=True,
    ):  # fmt: skip
        if name == "rotation":
            # Along the quaternion itself the derivative means nothing: it stays of unit length.
            a.grad -= (a.grad @ start.rotation) * start.rotation
            b.grad -= (b.grad @ start.rotation) * start.rotation
        error = (a.grad - b.grad).norm() / b.grad.norm()
        assert error < 1e-8, f"{name}: relative error {error:.1e}"


def test_contact_matters_in_the_comparison() -> None:
    # The case above must not pass because nothing touches.
    body = quadruped()
    start = scattered(body, 0, height=-0.01)
    targets = torch.zeros(20, len(body) - 1, 3, dtype=torch.float64)
    touching = rollout_reference(body, scale_parameters(body), start, targets)
    floating = rollout_reference(
        body, replace(scale_parameters(body), contact_stiffness=0.0, contact_damping=0.0),
        start, targets,
    )  # fmt: skip
    assert (touching.velocity[-1] - floating.velocity[-1]).norm() > 0.01
