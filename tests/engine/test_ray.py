"""The same jobs on a small Ray cluster: workers and nodes that die, the same files."""

import json
import os
import signal
import time
import warnings

import pytest

from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.engine.local import Local
from akd.engine.run import run_jobs
from tests.engine import dummies
from tests.engine.dummies import counted, numbers, results
from tests.engine.ray_marks import RAY_MARKS

pytest.importorskip("ray")
pytestmark = RAY_MARKS


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster

        made = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20},
        )
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


def test_workers_and_nodes_may_die(cluster, tmp_path):
    from akd.engine.ray_cluster import RayCluster

    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    engine = RayCluster()
    text = tmp_path / "text.txt"
    text.write_text("hello")
    poisoned = Job(dummies.fail, {}, "poisoned")
    jobs = [
        Job(dummies.write_number, {"number": 90, "seconds": 60.0}, "worker dies"),
        Job(dummies.write_number, {"number": 91, "seconds": 60.0}, "node dies"),
        poisoned,
        *numbers(6),
    ]
    out = tmp_path / "ray"
    pids = [JobFolder(out, job).work / "pid" for job in jobs[:2]]
    killed, events = False, []
    for event in run_jobs(jobs, out, engine):
        events.append(event)
        if event.state == "started" and not killed and len(events) == len(jobs):
            while not all(path.exists() and path.read_text() for path in pids):
                time.sleep(0.1)
            os.kill(int(pids[0].read_text()), signal.SIGKILL)
            cluster.remove_node(node, allow_graceful=False)
            killed = True
    engine.close()
    final = {e.job.label: e.state for e in events if e.state in ("done", "failed")}
    assert final.pop("poisoned") == "failed"
    assert set(final.values()) == {"done"}
    assert len(final) == 8
    assert set(counted(out / "ended").values()) == {1}
    assert "no luck" in JobFolder(out, poisoned).log.read_text()

    local = Local(cpus=2)
    alone = [Job(job.task, {**job.arguments, "seconds": 0.0}, job.label) for job in jobs[:2]]
    list(run_jobs([*jobs[3:], *alone], tmp_path / "local", local))
    local.close()
    here = results(tmp_path / "local")
    same = {name: data for name, data in results(out).items() if name.startswith("number")}
    assert same.items() <= here.items()
    assert len(same) == 12


def test_files_travel_and_retries_go_elsewhere(cluster, tmp_path):
    from akd.engine.ray_cluster import RayCluster

    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    engine = RayCluster()
    asset = tmp_path / "asset.ply"
    asset.write_text("ply")
    job = Job(dummies.write_number, {"number": 5, "die": True}, "dies", files={"text": asset})
    nodes = []
    for event in run_jobs([job], tmp_path / "out", engine):
        if event.state in ("retried", "done"):
            nodes.append(JobFolder(tmp_path / "out", job).last_attempt()["node"])
    engine.close()
    assert len(set(nodes)) == 2
    assert (tmp_path / "out" / job.name / "text.txt").read_text() == "ply"
    cluster.remove_node(node)


def test_a_batch_of_clips_is_the_same_as_on_one_machine(cluster, tmp_path):
    from akd.cli import main
    from tests.commands.small_prior import QUICK, write_fox, write_weights

    write_fox(tmp_path / "fox.glb")
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        f"""
        [options]
        weights = {json.dumps(str(write_weights(tmp_path / "weights")))}
        device = "cpu"
        grounded = false
        iterations = 4
        set = {json.dumps(list(QUICK[1:]))}
        [resources]
        cpus = 1
        [[job]]
        asset = "fox.glb"
        prompt = "a fox walking"
        """
    )
    for engine in ("ray", "local"):
        assert main(["batch", str(jobs), "-o", str(tmp_path / engine), "--engine", engine]) == 0
    here, there = results(tmp_path / "local"), results(tmp_path / "ray")
    assert {name.rpartition("/")[2] for name in here} >= {"motion.glb", "video.mp4", "preview.png"}
    assert [name for name in here if "/" in name and here[name] != there[name]] == []


def test_retargeted_clips_are_the_same_as_on_one_machine(cluster, tmp_path):
    from akd.cli import main
    from tests.commands.small_prior import write_retargeting

    jobs = write_retargeting(tmp_path)
    for engine in ("ray", "local"):
        assert main(["batch", str(jobs), "-o", str(tmp_path / engine), "--engine", engine]) == 3
    here, there = (
        {name: data for name, data in results(tmp_path / engine).items() if "/" in name}
        for engine in ("local", "ray")
    )
    assert len([name for name in here if name.endswith("motion.glb")]) == 4
    assert here == there
