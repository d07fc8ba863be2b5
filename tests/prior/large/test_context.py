"""Context parallelism over two processes gives the predictions of one."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from akd.base.files import read_tensors
from akd.base.process_group import ProcessGroup
from akd.prior.large.context import divide_context
from akd.prior.large.errors import PriorError
from akd.prior.large.settings import LargeSettings
from tests.prior.large.context_together import FULL, predictions
from tests.prior.large.tiny_pipelines import build

pytest.importorskip("diffusers")
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_two_processes_predict_as_one(tmp_path):
    """Wan2.2-A14B, which has two networks for different times."""
    name = "wan2.2-a14b"
    folder = tmp_path / "pipeline"
    build(name, tmp_path).save_pretrained(folder)
    wanted = predictions(name, folder, FULL)
    launch = ["torch.distributed.run", "--nproc_per_node", "2", "--standalone"]
    words = ["-m", "tests.prior.large.context_together", name, folder, tmp_path / "out.safetensors"]
    subprocess.run(
        [sys.executable, "-m", *launch, *words], check=True, cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    found, _ = read_tensors(tmp_path / "out.safetensors")
    assert found.keys() == wanted.keys()
    for time, value in wanted.items():
        assert torch.equal(found[time], value), time


def test_one_process_alone_is_refused():
    with pytest.raises(PriorError, match="needs several processes: start them with torchrun"):
        divide_context([], torch.device("cpu"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CogVideoXTransformer3DModel", "is for WanTransformer3DModel, got CogVideoXTransformer3D"),
        ("WanTransformer3DModel", "2 processes must divide the 3 heads"),
    ],
)
def test_networks_that_cannot_be_divided(monkeypatch, name, said):
    cpu = torch.device("cpu")
    monkeypatch.setattr(ProcessGroup, "join", lambda device: (ProcessGroup(0, 2), device))
    config = SimpleNamespace(num_attention_heads=3)
    with pytest.raises(PriorError, match=said):
        divide_context([type(name, (SimpleNamespace,), {"config": config})()], cpu)


@pytest.mark.parametrize("option", [{"spread": 2}, {"offload": True}])
def test_parts_of_a_network_are_not_divided(option):
    with pytest.raises(ValueError, match="context_parallel needs the whole network"):
        LargeSettings(context_parallel=True, **option)
