"""Gradients through contact, clipping, environments, devices, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from akd.physics.body import Body, State, lowest, place
from akd.physics.parameters import scale_parameters
from akd.physics.settings import SimulatorSettings
from akd.physics.simulator import Variation, WarpSimulator
from tests.physics.bodies_for_tests import quadruped, random_tree, scattered, tensor
from tests.physics.numeric_derivative import derivative_at_zero


def batch(state: State, environments: int = 1) -> State:
    return State(*(p[None].expand(environments, *p.shape) for p in state.parts()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_finite_differences_in_contact_over_400_substeps(seed: int) -> None:
    body = quadruped()
    simulator = WarpSimulator(body, scale_parameters(body), dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    start = replace(
        State.neutral(body), velocity=0.3 * normal(3), angular_velocity=0.3 * normal(3),
        joint_velocity=0.3 * normal(len(body) - 1, 3),
    )  # fmt: skip
    time = torch.linspace(0.0, 8.0, 400, dtype=torch.float64)[:, None, None]
    targets = 0.2 * torch.sin(time + normal(len(body) - 1, 3))
    weights = [normal(*part.shape) for part in start.parts()]
    still = (start.position, start.rotation, start.angles)

    def losses(*controls: torch.Tensor) -> torch.Tensor:
        """Of many environments at once, [E]."""
        velocity, angular_velocity, joint_velocity, targets_ = controls
        first = [p[None].expand(len(velocity), *p.shape) for p in still]
        made = simulator.rollout(
            State(*first, velocity, angular_velocity, joint_velocity), targets_
        )
        terms = [w * p[:, -1] for w, p in zip(weights, made.parts(), strict=True)]
        return torch.stack([term.flatten(1).sum(1) for term in terms]).sum(0)

    leaves = [
        t[None].clone().requires_grad_()
        for t in (start.velocity, start.angular_velocity, start.joint_velocity, targets)
    ]
    losses(*leaves).sum().backward()
    for moved, leaf in enumerate(leaves):
        direction = normal(*leaf.shape)

        def along(sizes: torch.Tensor, moved: int = moved, way: torch.Tensor = direction):
            controls = [x.detach().expand(len(sizes), *x.shape[1:]) for x in leaves]
            controls[moved] = controls[moved] + sizes.view(-1, *[1] * (way.ndim - 1)) * way
            with torch.no_grad():
                return losses(*controls)

        exact = float((direction * leaf.grad).sum())
        numeric, _ = derivative_at_zero(along)
        assert numeric == pytest.approx(exact, rel=1e-5)

    with torch.no_grad():
        states = simulator.rollout(
            State(*(p[None] for p in still), *(x.detach() for x in leaves[:3])), targets[None]
        )[0]
    height = lowest(body, place(body, states))
    assert (height < 0).double().mean() > 0.9


def test_numeric_derivatives_see_kinks() -> None:
    def smooth(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(30 * x) + x

    def kinked(at: float) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda x: smooth(x) + (x - at).clamp_min(0.0)

    assert derivative_at_zero(smooth)[0] == pytest.approx(31.0, rel=1e-9)
    # A kink beside the point: smaller steps than its distance are used, and are right.
    value, step = derivative_at_zero(kinked(1e-4))
    assert step < 1e-4
    assert value == pytest.approx(31.0, rel=1e-8)
    with pytest.raises(ArithmeticError, match="kink"):
        derivative_at_zero(kinked(0.0))


def shake(clip: float | None) -> tuple[float, torch.Tensor]:
    """A quadruped shaken on hard ground; the gradient of its end with respect to its start."""
    body = quadruped()
    hard = SimulatorSettings(contact_rounding=0.0005, friction_epsilon=0.001)
    simulator = WarpSimulator(body, scale_parameters(body, hard), dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    targets = 0.2 * torch.randn(1, 1500, 12, 3, generator=generator, dtype=torch.float64)
    start = State.neutral(body)
    velocity = start.velocity.clone().requires_grad_()
    states = simulator.rollout(
        batch(replace(start, velocity=velocity)), targets, clip=clip, clip_every=30
    )[0]
    states.position[-1].sum().backward()
    return float(velocity.grad.norm()), states.position.detach()


def test_clipping_tames_a_gradient_that_explodes() -> None:
    wild, path = shake(None)
    tame, same_path = shake(1.0)
    torch.testing.assert_close(path, same_path, rtol=0, atol=0)
    assert wild > 1e6
    # Cut at substep 0 as well: no more than the limit comes out.
    assert 0 < tame <= 1.0 + 1e-9


def test_segments_give_the_same_gradient_as_keeping_everything() -> None:
    body = quadruped()
    parameters = scale_parameters(body)
    gradients = []
    for scratch_bytes in (2**30, 50 * 13 * 110 * 8 * 2):
        simulator = WarpSimulator(
            body, parameters, dtype=torch.float64, scratch_bytes=scratch_bytes
        )
        targets = torch.full((1, 200, 12, 3), 0.1, dtype=torch.float64, requires_grad=True)
        end = simulator.rollout(batch(State.neutral(body)), targets, clip=0.5)
        end.angles[:, ::20].square().sum().backward()
        gradients.append((simulator.scratch_slots(1), targets.grad))
    assert gradients[0][0] >= 200 > gradients[1][0]
    torch.testing.assert_close(gradients[0][1], gradients[1][1], rtol=1e-12, atol=1e-14)


def test_two_rollouts_before_one_backward_keep_their_own_gradients() -> None:
    body = random_tree(1)
    simulator = WarpSimulator(body, scale_parameters(body), dtype=torch.float64)
    start = batch(scattered(body, 1, height=0.0))

    def rollout(value: float) -> tuple[torch.Tensor, torch.Tensor]:
        targets = torch.full((1, 50, 6, 3), value, dtype=torch.float64, requires_grad=True)
        return targets, simulator.rollout(start, targets).angles[:, -1].sum()

    alone, loss = rollout(0.1)
    loss.backward()
    first, loss1 = rollout(0.1)
    second, loss2 = rollout(-0.4)
    (loss1 + loss2).backward()
    torch.testing.assert_close(first.grad, alone.grad, rtol=0, atol=0)
    assert (second.grad - alone.grad).abs().max() > 1e-6


def test_environments_are_independent_and_vary() -> None:
    body = quadruped()
    parameters = scale_parameters(body)
    simulator = WarpSimulator(body, parameters, dtype=torch.float64)
    single = simulator.rollout(
        batch(State.neutral(body)), torch.zeros(1, 300, 12, 3, dtype=torch.float64)
    )
    scale = torch.ones(4, 13)
    scale[1] = 1.3
    push = torch.zeros(4, 3)
    push[2, 0] = 0.5 * body.mass * 9.81
    friction = torch.full((4,), parameters.friction, dtype=torch.float64)
    variation = Variation(friction, scale, push, torch.full((4,), 100), torch.full((4,), 150))
    states = simulator.rollout(
        batch(State.neutral(body), 4), torch.zeros(4, 300, 12, 3, dtype=torch.float64),
        variation=variation,
    )  # fmt: skip
    torch.testing.assert_close(states.position[0], single.position[0], rtol=0, atol=0)
    torch.testing.assert_close(states.angles[3], single.angles[0], rtol=0, atol=0)
    # Heavier by 30 %: deeper in the ground. Pushed: moved along +x, from substep 100 on.
    assert states.position[1, -1, 1] < states.position[0, -1, 1] - 1e-5
    torch.testing.assert_close(states.position[2, 100], single.position[0, 100], rtol=0, atol=0)
    assert states.position[2, 150, 0] > 0.003


def test_float32_follows_float64() -> None:
    body = quadruped()
    parameters = scale_parameters(body)
    ends = [
        WarpSimulator(body, parameters, dtype=dtype).rollout(
            batch(State.neutral(body)), torch.full((1, 500, 12, 3), 0.05, dtype=dtype)
        ).position[0, -1].double()
        for dtype in (torch.float32, torch.float64)
    ]  # fmt: skip
    # 500 roundings of 1e-7 at a size of 1, amplified by the contact: micrometres.
    assert (ends[0] - ends[1]).norm() < 1e-4


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_is_cpu() -> None:
    body = quadruped()
    results = []
    for device in ("cpu", "cuda"):
        simulator = WarpSimulator(body, scale_parameters(body), dtype=torch.float64, device=device)
        generator = torch.Generator().manual_seed(0)
        targets = 0.2 * torch.randn(5, 200, 12, 3, generator=generator, dtype=torch.float64)
        targets = targets.to(device).requires_grad_()
        states = simulator.rollout(batch(State.neutral(body), 5).to(device), targets, clip=1.0)
        states.angles[:, ::50].square().sum().backward()
        results.append((states.angles.detach().cpu(), targets.grad.cpu()))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-9)


def bad(body: Body, **changes: object) -> None:
    replace(body, **changes)


def test_what_a_body_must_be_is_said() -> None:
    body = quadruped()
    with pytest.raises(ValueError, match=r"parents must point to an earlier part: parents\[1\]"):
        bad(body, parents=(-1, 5, *body.parents[2:]))
    with pytest.raises(ValueError, match="masses must be above zero"):
        bad(body, masses=body.masses * 0)
    axes = body.axes.clone()
    axes[3, 1] = axes[3, 0]
    with pytest.raises(ValueError, match="the middle axis of a joint must be perpendicular"):
        bad(body, axes=axes)
    with pytest.raises(ValueError, match="half_extents must be above zero"):
        bad(body, half_extents=-body.half_extents)
    simulator = WarpSimulator(body, scale_parameters(body))
    with pytest.raises(ValueError, match="targets are for 3 joints, the body has 12"):
        simulator.rollout(batch(State.neutral(body)), torch.zeros(1, 4, 3, 3))
    with pytest.raises(ValueError, match=r"dtype must be torch\.float32 or torch\.float64"):
        WarpSimulator(body, scale_parameters(body), dtype=torch.float16)


def test_cuboid_inertia_of_a_turned_box() -> None:
    body = random_tree(0)
    # Monte Carlo would do; the parallel statement is exact: trace and determinant do not turn.
    for i in range(len(body)):
        a, b, c = (float(x) for x in body.half_extents[i])
        m = 8000.0 * a * b * c
        assert float(body.masses[i]) == pytest.approx(m)
        principal = sorted(m / 3 * x for x in (b * b + c * c, a * a + c * c, a * a + b * b))
        torch.testing.assert_close(
            torch.linalg.eigvalsh(body.inertias[i]), tensor(principal), rtol=1e-9, atol=0
        )
