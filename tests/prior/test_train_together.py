"""Training in several processes: the averaged gradients are those of one with the whole batch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from akd.base.files import read_tensors
from akd.base.process_group import ProcessGroup
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord, join_poses, save_poses
from tests.prior.train_together import gradients

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_two_processes_average_to_one_with_the_whole_batch(fox, tmp_path):
    pytest.importorskip("accelerate")
    codec = PoseCodec.of(fox)
    draw = torch.Generator().manual_seed(0)
    states = 0.5 * torch.randn(40, codec.body.tokens, 3, generator=draw)
    record = BodyRecord("fox", "zoo", "fox", codec.body.tokens, fox.height / codec.size)
    poses = tmp_path / "poses.safetensors"
    clips = (("random", states, torch.arange(40.0)),)
    save_poses(join_poses([BodyPoses(record, codec.body, clips)]), poses)
    launch = [
        "accelerate.commands.launch",
        "--multi_gpu",
        "--num_processes",
        "2",
        "--num_machines",
        "1",
    ]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"]
    subprocess.run(
        [sys.executable, "-m", *launch, "-m", "tests.prior.train_together", poses, tmp_path],
        check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    alone = gradients(poses, ProcessGroup())
    for rank in range(2):
        found, _ = read_tensors(tmp_path / f"{rank} of 2.safetensors")
        assert found.keys() == alone.keys()
        for name, value in alone.items():
            torch.testing.assert_close(found[name], value, atol=2e-6, rtol=2e-4, msg=name)
    assert sum(float(value.abs().sum()) > 0 for value in alone.values()) > len(alone) // 2


def test_a_batch_is_divided():
    parts = [ProcessGroup(rank, 3).part(6) for rank in range(3)]
    assert [list(range(6))[part] for part in parts] == [[0, 1], [2, 3], [4, 5]]
