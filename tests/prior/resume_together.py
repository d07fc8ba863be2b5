"""`akd prior train` that is stopped and resumed; run by `accelerate launch`.

accelerate launch --multi_gpu --num_processes 2 -m tests.prior.resume_together OUT

The clock of the training ticks by a second each time it is looked at, so that the number of steps
does not depend on the machine.
"""

import itertools
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import torch

from akd.base.files import write_tensors
from akd.base.process_group import ProcessGroup
from akd.base.processor import avoid_broken_amx
from akd.prior.tiny import train as training
from akd.prior.tiny.settings import PoolSettings, TinySettings, TrainSettings

TINY = TinySettings(
    frames=4, width=32, height=32, patch=8, channels=24, layers=1, heads=2, text_channels=8,
    refine_channels=4,
)  # fmt: skip
POOL = PoolSettings(
    creatures=2, vertices=500, splats=200, styles=1, recorded_clips=1, videos=8, videos_a_call=2,
    ready=2,
)  # fmt: skip
TRAIN = TrainSettings(
    batch=2, warm_up=2, checkpoint_seconds=3.0, sheet_seconds=1e6, sheet_rows=1, sheet_steps=1
)


def run(out: Path, stop_after: float | None) -> torch.nn.Module:
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: float(next(ticks)), sleep=time.sleep)
    with mock.patch.object(training, "time", clock):
        return training.train(
            out, minutes=0.6, stop_after=stop_after, device=torch.device("cpu"), seed=3, tiny=TINY,
            pool=POOL, settings=TRAIN, compiled=False,
        )  # fmt: skip


if __name__ == "__main__":
    avoid_broken_amx()  # as the command does
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    group, _ = ProcessGroup.join(torch.device("cpu"))
    steps = []
    for stop_after in (0.3, None):
        network = run(out / "training", stop_after)
        torch.distributed.barrier()  # until the first one has written
        report = json.loads((out / "training" / "training.json").read_text())
        assert report["processes"] == group.size
        assert report["done"] == (stop_after is None)
        steps.append(report["steps"])
    tensors = {"steps": torch.tensor(steps), **network.state_dict()}
    write_tensors(out / f"{group.rank}.safetensors", tensors)
