"""Checkpoints of a long run: memory stays flat while their history grows."""

import gc
import json

import pytest
import torch

from akd.base.files import read_tensors, write_tensors
from akd.distill.checkpoint import Checkpoint


@pytest.mark.slow
def test_memory_stays_flat_over_many_checkpoints(tmp_path):
    path, history = tmp_path / "a.safetensors", []

    def save() -> None:
        history.append({"loss": 0.5 / (1 + len(history)), "score": 0.25})
        state = Checkpoint(
            len(history), [torch.zeros(3)], {}, torch.zeros(16, dtype=torch.uint8), history
        )
        write_tensors(path, state.to_tensors())

    def objects_after(saves: int) -> int:
        for _ in range(saves):
            save()
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(20)
    assert objects_after(300) - before < 1000
    assert len(json.dumps(history)) > 10_000
    again = Checkpoint.from_tensors(read_tensors(path)[0])
    assert again.history == history
    assert again.iteration == 320
