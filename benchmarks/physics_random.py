"""Nothing explodes: tracking runs on random bodies, clips and settings.

    python -m benchmarks.physics_random --count 1000 [--first SEED] [--seconds 300]

Says how many ended with finite numbers, how many had to be begun again with a smaller step, how
many kept their last good iteration, and how many were refused because they never worked.
"""

from __future__ import annotations

import argparse
import time

import torch

from tests.physics.random_tracking import Outcome, track_random


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=300.0, help="stop after so long")
    options = parser.parse_args()
    torch.set_num_threads(1)
    begin = time.perf_counter()
    outcomes: list[Outcome] = []
    for seed in range(options.first, options.first + options.count):
        outcomes.append(track_random(seed))
        late = time.perf_counter() - begin > options.seconds
        if late or len(outcomes) % 50 == 0:
            report(options.first, outcomes, time.perf_counter() - begin)
        if late:
            return
    report(options.first, outcomes, time.perf_counter() - begin)


def report(first: int, outcomes: list[Outcome], seconds: float) -> None:
    """What became of the runs so far: a long run that is stopped has said what it found."""
    exploded = [first + i for i, o in enumerate(outcomes) if not o.finite]
    again = [o for o in outcomes if o.retries > 0]
    kept = sum(o.failed and not o.refused for o in outcomes)
    print(f"{len(outcomes)} tracking runs from seed {first} on in {seconds:.0f} s")
    print(f"  not finite                          {len(exploded)} {exploded or ''}")
    print(f"  begun again with a smaller step     {len(again)}")
    print(f"  of these, well at a smaller step    {sum(not o.failed for o in again)}")
    print(f"  the last good iteration was kept    {kept}")
    print(f"  never worked, and said so           {sum(o.refused for o in outcomes)}", flush=True)


if __name__ == "__main__":
    main()
