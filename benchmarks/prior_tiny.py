"""The tiny prior on this machine: loading, one guided evaluation, rendering of training videos.

    python -m benchmarks.prior_tiny [--weights FOLDER] [--threads 2]

Without weights, random ones of the same size are written and used: times are the same.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Least seconds of several runs, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    from akd.prior.guidance import predict_guided
    from akd.prior.tiny.load import has_weights, load_tiny, save_tiny, shipped_weights
    from akd.prior.tiny.network import TinyNetwork
    from akd.prior.tiny.settings import TinySettings

    folder = options.weights or shipped_weights()
    with tempfile.TemporaryDirectory() as temporary:
        if not has_weights(folder):
            folder = Path(temporary)
            save_tiny(TinyNetwork(TinySettings()), folder)
            print("random weights")
        size = sum(path.stat().st_size for path in folder.glob("tiny-*.safetensors"))
        print(f"{size / 1e6:.1f} MB on disk, loaded in {best(lambda: load_tiny(folder), 2):.2f} s")
        for dtype in (torch.float32, torch.bfloat16):
            prior = load_tiny(folder, dtype=dtype)
            picture = torch.rand(prior.height, prior.width, 3)
            condition = prior.condition("a fox walking", reference_image=picture)
            z = torch.randn(1, prior.frames, prior.height, prior.width, 3)
            t = torch.tensor([0.5])
            seconds = best(
                lambda p=prior, c=condition, z=z, t=t: predict_guided(p, z, t, c, scale=3.0)
            )
            print(f"one guided evaluation, {dtype}, {options.threads} threads: {seconds:.3f} s")


if __name__ == "__main__":
    main()
