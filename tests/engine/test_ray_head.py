"""A Ray head node that is killed while jobs run."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine import drive_ray
from tests.engine.dummies import counted, numbers
from tests.engine.ray_nodes import RAY_MARKS, start_head

pytest.importorskip("ray")
pytestmark = RAY_MARKS


def drive(out: Path, address: str) -> subprocess.Popen:
    command = [sys.executable, "-m", drive_ray.__name__, str(out), address]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL)


def test_finished_jobs_do_not_run_again(tmp_path):
    first = start_head(num_cpus=1)
    driver = drive(tmp_path, first.address)
    outcomes = [
        tmp_path / job.name / "outcome.json" for job in numbers(drive_ray.JOBS, seconds=1.0)
    ]
    while sum(path.exists() for path in outcomes) < 2:
        assert driver.poll() is None
        time.sleep(0.1)
    first.remove_node(first.head_node, allow_graceful=False)
    driver.kill()  # Ray would end it, after a minute of trying to reconnect
    driver.wait()
    finished = {path: path.stat().st_mtime_ns for path in outcomes if path.exists()}
    began = counted(tmp_path / "began")
    assert 2 <= len(finished) < drive_ray.JOBS

    second = start_head(num_cpus=1)
    assert drive(tmp_path, second.address).wait() == 0
    second.shutdown()
    assert all(path.exists() for path in outcomes)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    again = counted(tmp_path / "began")
    for number, path in enumerate(outcomes):
        if path in finished:
            assert again[str(number)] == began[str(number)] == 1
    assert set(counted(tmp_path / "ended")) == {str(k) for k in range(drive_ray.JOBS)}
