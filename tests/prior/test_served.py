"""Predictions for several jobs in one batch: the same as alone, and errors of one job alone."""

import os
import signal
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client
from threading import Thread

import pytest
import torch

from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.engine.local import Local, Service
from akd.engine.run import run_jobs
from akd.prior.choose import choose_prior
from akd.prior.served import (
    PriorServed,
    Question,
    predict_together,
    serve_predictions,
    use_server,
)
from akd.prior.source import PriorSource
from akd.prior.tiny.load import load_tiny
from tests.commands.small_prior import write_weights


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_weights(tmp_path_factory.mktemp("weights"))


def questions(prior, seed, rows):
    """Noisy rows, of which the first has no reference image and the others share one."""
    draw = torch.Generator().manual_seed(seed)
    size = (prior.frames, prior.height, prior.width, 3)
    image = torch.rand(size[1:], generator=draw)
    conditions = [
        prior.condition("a fox walking", reference_image=image if k else None) for k in range(rows)
    ]
    return torch.randn(rows, *size, generator=draw), torch.rand(rows, generator=draw), conditions


def test_rows_of_several_jobs_are_those_of_each(weights):
    prior = load_tiny(weights, device="cpu", dtype=torch.float32)
    asked = [questions(prior, seed, rows) for seed, rows in ((0, 3), (1, 1), (2, 2))]
    packed = [Question.of(*one) for one in asked]
    assert [len(one.images) for one in packed] == [1, 0, 1]
    assert packed[0].image.tolist() == [-1, 0, 0]
    for one, found in zip(asked, predict_together(prior, packed), strict=True):
        torch.testing.assert_close(found, prior.predict(*one), atol=1e-6, rtol=1e-5)


def test_without_a_server_a_prior_predicts_itself(weights):
    prior = choose_prior(PriorSource("tiny", weights), device="cpu")
    assert not isinstance(prior, PriorServed)


def test_only_own_processes_are_answered(weights, tmp_path, monkeypatch, caplog):
    address = str(tmp_path / "socket")
    here, there = Pipe()
    server = Thread(target=serve_predictions, args=(address, there), daemon=True)
    server.start()
    monkeypatch.setattr(PriorServed, "address", address)
    prior = choose_prior(PriorSource("tiny", weights), device="cpu")
    asked = questions(prior, 0, 2)
    found = prior.predict(*asked)
    with pytest.raises(AuthenticationError):
        Client(address, "AF_UNIX", authkey=b"another")
    assert torch.equal(prior.predict(*asked), found)
    here.close()
    server.join()
    # Without it a job goes on with its own weights.
    assert torch.equal(prior.predict(*asked), load_tiny(weights, device="cpu").predict(*asked))
    assert "going on alone" in caplog.text


def ask(arguments, place):
    """Predict through the server of this worker, and compare with this process's own weights."""
    torch.set_num_threads(1)
    prior = choose_prior(PriorSource("tiny", place.out / "weights"), device="cpu")
    assert isinstance(prior, PriorServed)
    assert not prior.capturable
    alone = load_tiny(place.out / "weights", device="cpu")
    for turn in range(arguments["turns"]):
        latents, t, conditions = questions(prior, 100 * arguments["seed"] + turn, 2)
        if arguments.get("poison"):
            latents = latents[..., :1]
        found = prior.for_body(0.4).predict(latents, t, conditions)
        away = float((found - alone.predict(latents, t, conditions)).abs().max())
        assert away < 0.05, away  # bfloat16 where the processor has it
    if arguments.get("kill") and not (place.folder / "killed").exists():
        (place.folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"turns": arguments["turns"]}


@pytest.mark.slow
def test_jobs_share_a_server_and_fail_alone(weights, tmp_path):
    (tmp_path / "weights").symlink_to(weights)
    jobs = [Job(ask, {"seed": k, "turns": 5}, f"asks {k}") for k in range(3)]
    poisoned = Job(ask, {"seed": 7, "turns": 2, "poison": True}, "poisoned")
    dies = Job(ask, {"seed": 8, "turns": 2, "kill": True}, "dies once")
    engine = Local(cpus=2, service=Service(serve_predictions, use_server))
    events = []
    try:
        for event in run_jobs([*jobs[:2], poisoned, dies], tmp_path, engine):
            events.append((event.job.label, event.state))
        final = {label: state for label, state in events if state in ("done", "failed")}
        assert final.pop("poisoned") == "failed"
        assert final == {"asks 0": "done", "asks 1": "done", "dies once": "done"}
        assert events.count(("poisoned", "retried")) == 2
        assert events.count(("dies once", "retried")) == 1
        failure = JobFolder(tmp_path, poisoned).failure()
        assert failure is not None
        assert "size" in failure or "shape" in failure
        # A server that dies costs nothing; the next call starts another.
        (server,) = engine._servers.values()
        server.process.kill()
        server.process.join()
        last = list(run_jobs(jobs[2:], tmp_path, engine))
        assert [event.state for event in last] == ["started", "done"]
    finally:
        engine.close()
    assert not server.process.is_alive()
