"""Runs dummy jobs on the Ray cluster at an address: a driver that a test can kill."""

import sys
from pathlib import Path

from akd.engine.ray_cluster import RayCluster
from akd.engine.run import run_jobs
from tests.engine.dummies import numbers

JOBS = 6


def main(out: Path, address: str) -> None:
    engine = RayCluster(address)
    for _ in run_jobs(numbers(JOBS, seconds=1.0), out, engine):
        pass
    engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
