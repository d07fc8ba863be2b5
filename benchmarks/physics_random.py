"""Nothing explodes: tracking runs on random bodies, clips and settings.

    python benchmarks/physics_random.py --count 1000 [--first SEED] [--seconds 300]

Says how many ended with finite numbers, how many had to be begun again with a smaller step, how
many kept their last good iteration, and how many were refused because they never worked.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "physics"))

from random_tracking import track_random  # pyright: ignore[reportMissingImports]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=300.0, help="stop after so long")
    options = parser.parse_args()
    torch.set_num_threads(1)
    begin = time.perf_counter()
    outcomes, exploded = [], []
    for seed in range(options.first, options.first + options.count):
        outcome = track_random(seed)
        outcomes.append(outcome)
        if not outcome.finite:
            exploded.append(seed)
        if time.perf_counter() - begin > options.seconds:
            break
    kept = sum(o.failed and not o.refused for o in outcomes)
    print(f"{len(outcomes)} tracking runs in {time.perf_counter() - begin:.0f} s")
    print(f"  not finite                          {len(exploded)} {exploded or ''}")
    print(f"  begun again with a smaller step     {sum(o.retries > 0 for o in outcomes)}")
    print(f"  of these, well at a smaller step    "
          f"{sum(o.retries > 0 and not o.failed for o in outcomes)}")  # fmt: skip
    print(f"  the last good iteration was kept    {kept}")
    print(f"  never worked, and said so           {sum(o.refused for o in outcomes)}")


if __name__ == "__main__":
    main()
