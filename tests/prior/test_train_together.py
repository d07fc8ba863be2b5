"""Training in several processes: gradients and weights are those of one with the whole batch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from akd.base.files import read_checkpoint, read_tensors
from akd.base.process_group import ProcessGroup
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord, join_poses, save_poses
from akd.posespace.settings import PoseTrainSettings
from akd.posespace.train import PoseTrainer
from akd.prior.tiny.load import load_network
from tests.prior.train_together import CPU, POSES, gradients, trained

ROOT = Path(__file__).resolve().parents[2]


def launch(module: str, *words: Path) -> None:
    """Run a module in two processes, as users do."""
    pytest.importorskip("accelerate")
    options = [
        "--multi_gpu", "--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no",
        "--dynamo_backend", "no", "--main_process_port", "0",
    ]  # fmt: skip
    command = [sys.executable, "-m", "accelerate.commands.launch", *options, "-m", module, *words]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})


@pytest.mark.slow
def test_two_processes_average_to_one_with_the_whole_batch(fox, tmp_path):
    codec = PoseCodec.of(fox)
    draw = torch.Generator().manual_seed(0)
    states = 0.5 * torch.randn(40, codec.body.tokens, 3, generator=draw)
    record = BodyRecord("fox", "zoo", "fox", codec.body.tokens, fox.height / codec.size)
    poses = tmp_path / "poses.safetensors"
    clips = (("random", states, torch.arange(40.0)),)
    save_poses(join_poses([BodyPoses(record, codec.body, clips)]), poses)
    launch("tests.prior.train_together", poses, tmp_path)
    alone = gradients(poses, ProcessGroup())
    weights = trained(poses, tmp_path / "alone", ProcessGroup())
    ranks = [read_tensors(tmp_path / f"{rank} of 2.safetensors")[0] for rank in range(2)]
    for found in ranks:
        assert found.keys() == alone.keys() | weights.keys()
        for name, value in alone.items():
            torch.testing.assert_close(found[name], value, atol=2e-6, rtol=2e-4, msg=name)
    assert sum(float(value.abs().sum()) > 0 for value in alone.values()) > len(alone) // 2
    # One process writes, and all have the same weights: near those of one with the whole batch,
    # since AdamW turns the rounding of a gradient near zero into a step.
    assert (tmp_path / "rank 0" / "pose.safetensors").is_file()
    assert not (tmp_path / "rank 1").exists()
    start = PoseTrainer(POSES, PoseTrainSettings(), device=CPU, seed=3).network.state_dict()
    moved = away = 0.0
    for name, value in weights.items():
        assert torch.equal(ranks[0][name], ranks[1][name])
        away += float((ranks[0][name] - value).abs().sum())
        moved += float((value - start[name.removeprefix("trained.")]).abs().sum())
    assert away < 0.02 * moved


@pytest.mark.slow
def test_two_processes_resume_the_training_of_the_prior(tmp_path):
    launch("tests.prior.resume_together", tmp_path)
    first, second = (read_tensors(tmp_path / f"{rank}.safetensors")[0] for rank in range(2))
    before, after = first["steps"].tolist()
    assert 0 < before < after
    kept = read_checkpoint(tmp_path / "training" / "state.safetensors")
    assert kept is not None
    assert json.loads(kept[1]["progress"])["step"] == after
    for name, value in first.items():
        assert torch.equal(second[name], value), name
    written = load_network(tmp_path / "training" / "weights")[0].state_dict()
    for name, value in written.items():  # weights are stored as half
        assert torch.equal(first[name].half(), value.half()), name


def test_a_batch_is_divided():
    parts = [ProcessGroup(rank, 3).part(6) for rank in range(3)]
    assert [list(range(6))[part] for part in parts] == [[0, 1], [2, 3], [4, 5]]
