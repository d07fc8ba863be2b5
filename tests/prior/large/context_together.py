"""One prediction over two processes; run by `torchrun`.

torchrun --nproc_per_node 2 -m tests.prior.large.context_together NAME PIPELINE OUT
"""

import atexit
import os
import sys
import warnings
from pathlib import Path
from unittest import mock

import torch

from akd.base.files import write_tensors
from akd.prior.large.settings import LargeSettings
from tests.prior.large.tiny_pipelines import SIZES, load_prior

FULL = LargeSettings(precision="float32")
DIVIDED = LargeSettings(precision="float32", context_parallel=True)
TIMES = (0.95, 0.3)


def predictions(name: str, folder: Path, settings: LargeSettings) -> dict[str, torch.Tensor]:
    """Two predictions from the same noise; the embeddings come from the cache."""
    frames, height, width = SIZES[name]
    prior = load_prior(
        folder, frames=frames, height=height, width=width, settings=settings,
        cache=folder.parent / "cache",
    )  # fmt: skip
    condition = prior.condition("a fox walking on the ground")
    shape = prior.encode(torch.zeros(1, frames, height, width, 3)).shape
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        return {str(t): prior.predict(noise, torch.tensor([t]), [condition]) for t in TIMES}


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # diffusers calls what torch has renamed
    name, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    # diffusers divides by the number of accelerators, and there is none.
    with mock.patch("torch.accelerator.device_count", return_value=1):
        write_tensors(out, predictions(name, folder, DIVIDED))  # in the first process alone
    # What akd does at exit, and no more: gloo's threads can abort an interpreter that shuts down.
    atexit._run_exitfuncs()
    os._exit(0)
