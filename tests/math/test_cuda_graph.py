"""`GraphStep`: plain calls on the CPU and where no graph can be made; replays on a GPU."""

import logging

import pytest
import torch

from akd.math.cuda_graph import GraphStep

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_on_the_cpu_the_function_is_called_each_time() -> None:
    seen = []

    def step(x: torch.Tensor, *, progress: float) -> list[torch.Tensor]:
        seen.append(progress)
        return [x + 1.0]

    run = GraphStep(step, device=torch.device("cpu"))
    for k in range(4):
        (found,) = run(torch.tensor(float(k)), progress=0.5 * k)
        assert float(found) == k + 1.0
    assert seen == [0.0, 0.5, 1.0, 1.5]
    assert not run.is_captured


def test_a_capture_that_fails_is_logged_once_and_the_function_called(monkeypatch, caplog) -> None:
    def refuse(self, inputs, options):
        raise RuntimeError("operation not permitted when stream is capturing")

    def plainly(self, inputs, options):
        self._warm_calls += 1
        return self._function(*inputs, **options)

    monkeypatch.setattr(GraphStep, "_capture", refuse)
    monkeypatch.setattr(GraphStep, "_warm_up", plainly)
    run = GraphStep(lambda x: [2.0 * x], device=torch.device("cuda"))
    with caplog.at_level(logging.WARNING):
        found = [float(run(torch.tensor(float(k)))[0]) for k in range(5)]
    assert found == [0.0, 2.0, 4.0, 6.0, 8.0]
    (record,) = caplog.records
    assert record.message.startswith("no CUDA graph, every kernel is launched by itself: ")
    assert "RuntimeError: operation not permitted when stream is capturing; at " in record.message
    assert 'test_cuda_graph.py, line 30: raise RuntimeError("operation' in record.message


class Growing:
    """Room that is short once."""

    def __init__(self) -> None:
        self.short = [False, True, False, False]

    measuring = fixed = lambda self: torch.no_grad()

    def overflow(self) -> bool:
        return self.short.pop(0)


@pytest.mark.gpu
@needs_gpu
def test_replays_follow_inputs_and_parameters() -> None:
    device = torch.device("cuda")
    weight = torch.ones(3, device=device, requires_grad=True)

    def step(x: torch.Tensor) -> list[torch.Tensor | None]:
        loss = (weight * x).square().sum()
        return [loss.detach(), *torch.autograd.grad(loss, [weight])]

    run = GraphStep(step, device=device)
    for k in range(6):
        x = torch.full((3,), float(k), device=device)
        loss, gradient = run(x)
        assert loss is not None
        assert gradient is not None
        expected = (weight.detach() * x).square().sum()
        torch.testing.assert_close(loss, expected)
        torch.testing.assert_close(gradient, 2.0 * weight.detach() * x * x)
        with torch.no_grad():
            weight.add_(0.5)
    assert run.is_captured


@pytest.mark.gpu
@needs_gpu
def test_a_step_that_outgrew_its_room_is_made_again() -> None:
    device, room = torch.device("cuda"), Growing()
    run = GraphStep(lambda x: [x + 1.0], device=device, room=room)
    found = [float(run(torch.tensor(float(k), device=device))[0]) for k in range(6)]
    assert found == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert run.is_captured


@pytest.mark.gpu
@needs_gpu
def test_a_step_that_reads_values_falls_back_and_its_line_is_named(caplog) -> None:
    device = torch.device("cuda")
    run = GraphStep(lambda x: [x * float(x.sum())], device=device)
    with caplog.at_level(logging.WARNING):
        found = [float(run(torch.tensor([2.0], device=device))[0]) for _ in range(4)]
    assert found == [4.0] * 4
    assert not run.is_captured
    (record,) = caplog.records
    assert "Error: " in record.message
    assert "run = GraphStep(lambda x: [x * float(x.sum())], device=device)" in record.message


@pytest.mark.gpu
@needs_gpu
def test_plain_calls_and_the_capture_share_one_stream() -> None:
    device, seen = torch.device("cuda"), []

    def step(x: torch.Tensor) -> list[torch.Tensor]:
        seen.append(torch.cuda.current_stream(device).cuda_stream)
        return [x + 1.0]

    run = GraphStep(step, device=device)
    for _ in range(4):
        run(torch.zeros(1, device=device))
    assert run.is_captured
    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert seen[0] != torch.cuda.current_stream(device).cuda_stream
