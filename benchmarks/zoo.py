"""How long a creature and a clip of the zoo take, on one thread: `python -m benchmarks.zoo`."""

from __future__ import annotations

import argparse
import statistics
import time

import torch

from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import perform
from akd.zoo.species.catalogue import SPECIES


def seconds(work) -> float:
    """Processor time of one call, so that what else runs on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vertices", type=int, default=5000)
    parser.add_argument("species", nargs="*", default=list(SPECIES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    build_creature("fox", vertices=1000)  # imports
    print("Seconds of one core; a clip is two cycles at 30 frames a second.")
    print(f"{'species':10} {'creature':>9} {'clip':>9}")
    builds, clips = [], []
    for name in arguments.species:
        build = seconds(lambda name=name: build_creature(name, vertices=arguments.vertices))
        creature = build_creature(name, vertices=arguments.vertices)
        times = [seconds(lambda a=action, c=creature: perform(c, a)) for action in creature.actions]
        builds.append(build)
        clips += times
        print(f"{name:10} {build:9.2f} {statistics.mean(times):9.3f}")
    print(f"{'median':10} {statistics.median(builds):9.2f} {statistics.median(clips):9.3f}")
    print(f"{'worst':10} {max(builds):9.2f} {max(clips):9.3f}")


if __name__ == "__main__":
    main()
