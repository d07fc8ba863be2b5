"""The same jobs on a small Ray cluster: workers and nodes that die, the same files."""

import json
import os
import shlex
import signal
import time
import warnings

import pytest

from akd.engine.call import Resources
from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.engine.local import Local
from akd.engine.run import run_jobs
from tests.engine import dummies
from tests.engine.dummies import counted, numbers, results
from tests.engine.ray_nodes import RAY_MARKS, add_node, start_head

pytest.importorskip("ray")
pytestmark = RAY_MARKS


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray

        made = start_head(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


def test_workers_and_nodes_may_die(cluster, tmp_path):
    from akd.engine.ray_cluster import RayCluster

    node = add_node(cluster, num_cpus=1)
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

    node = add_node(cluster, num_cpus=1)
    engine = RayCluster()
    asset = tmp_path / "asset.ply"
    asset.write_text("ply")
    job = Job(dummies.write_number, {"number": 5, "die": True}, "dies", files={"text": asset})
    nodes, resumed = [], None
    for event in run_jobs([job], tmp_path / "out", engine):
        if event.state in ("retried", "done"):
            nodes.append(JobFolder(tmp_path / "out", job).last_attempt()["node"])
            resumed = event.values.get("resumed")
    engine.close()
    assert len(set(nodes)) == 2
    assert resumed  # from the checkpoint that the first node left
    assert (tmp_path / "out" / job.name / "text.txt").read_text() == "ply"
    cluster.remove_node(node)


def done(jobs, out, engine):
    return {e.job.label: e.values for e in run_jobs(jobs, out, engine) if e.state == "done"}


def test_a_file_is_stored_once_while_there_is_room(cluster, tmp_path, monkeypatch):
    import ray

    from akd.engine import ray_cluster

    put, stored = ray.put, []
    monkeypatch.setattr(ray, "put", lambda data: stored.append(bytes(data)) or put(data))
    paths = [tmp_path / f"{name}.ply" for name in "ab"]
    for path in paths:
        path.write_text(path.stem)

    def jobs(first):
        return [
            Job(dummies.write_number, {"number": k}, str(k), files={"text": paths[k % 2]})
            for k in range(first, first + 4)
        ]

    engine = ray_cluster.RayCluster()
    assert len(done(jobs(0), tmp_path / "out", engine)) == 4
    assert stored == [b"a", b"b"]
    monkeypatch.setattr(ray_cluster, "_STORED_BYTES", 1)
    assert len(done(jobs(4), tmp_path / "out", engine)) == 4
    assert stored == [b"a", b"b", b"b", b"a", b"b"]  # a was still there
    engine.close()
    for job in (*jobs(0), *jobs(4)):
        found = (tmp_path / "out" / job.name / "text.txt").read_text()
        assert found == job.files["text"].stem


def test_a_file_that_is_gone_fails_alone(cluster, tmp_path):
    from akd.engine.ray_cluster import RayCluster

    path = tmp_path / "gone.ply"
    path.write_text("ply")
    lost = Job(dummies.write_number, {"number": 9}, "lost", files={"text": path})
    assert lost.id
    path.unlink()
    engine = RayCluster()
    events = list(run_jobs([lost, *numbers(2)], tmp_path / "out", engine))
    engine.close()
    final = {e.job.label: (e.state, e.attempt) for e in events if e.state in ("done", "failed")}
    assert final == {"lost": ("failed", 3), "number 0": ("done", 1), "number 1": ("done", 1)}
    assert "gone.ply" in (JobFolder(tmp_path / "out", lost).failure() or "")


def test_an_error_names_the_file_that_was_given(cluster, tmp_path):
    from akd.engine.ray_cluster import RayCluster

    path = tmp_path / "odd.ply"
    path.write_text("ply")
    job = Job(dummies.refuse_file, {}, "odd", files={"text": path})
    engine = RayCluster()
    events = list(run_jobs([job], tmp_path / "out", engine))
    engine.close()
    assert [(e.state, e.error) for e in events[1:]] == [("failed", f"{path}: is no good")]


def test_a_gpu_job_has_a_fresh_process_and_keeps_no_core_idle(
    cluster, tmp_path, caplog, monkeypatch
):
    from akd.engine import ray_cluster

    monkeypatch.setattr(ray_cluster, "_LEAST_AHEAD", 2)
    gpu, large = Resources(0, 1.0), Resources(64, 0.0)
    waiting = [Job(dummies.name_process, {"gpu": k}, f"gpu {k}", resources=gpu) for k in range(3)]
    large_job = Job(dummies.name_process, {"large": 1}, "large", resources=large)
    others = [Job(dummies.name_process, {"cpu": k}, f"cpu {k}") for k in range(4)]
    node, processes = None, {}
    engine = ray_cluster.RayCluster()
    for event in run_jobs([*waiting, large_job, *others], tmp_path, engine):
        if event.state == "done":
            processes[event.job.label] = event.values["process"]
        if len(processes) == 4 and node is None:
            # Jobs on cores ended before there was a GPU.
            assert processes.keys() == {job.label for job in others}
            assert len(set(processes.values())) < 4
            node = add_node(cluster, num_cpus=64, num_gpus=1)
    engine.close()
    assert len({processes[job.label] for job in waiting}) == 3
    assert "large" in processes
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "no node of the Ray cluster has 0 cores and 1 GPUs: jobs that need them wait",
        "no node of the Ray cluster has 64 cores and 0 GPUs: jobs that need them wait",
    ]
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


def test_a_harvest_is_the_same_on_every_engine(cluster, tmp_path, capfd):
    from akd.cli import main
    from tests.commands.small_prior import write_weights

    weights = write_weights(tmp_path / "weights")
    words = (
        "pose", "harvest", "--zoo", "2", "--videos", "1", "--iterations", "1", "--actions",
        "walking", "--device", "cpu", "--together", "16", "--prior", str(weights),
    )  # fmt: skip
    for engine in ("ray", "local"):
        assert main([*words, "-o", str(tmp_path / engine), "--engine", engine]) == 0
    capfd.readouterr()
    assert main([*words, "-o", str(tmp_path / "shell"), "--engine", "shell"]) == 0
    commands = [shlex.split(line) for line in capfd.readouterr().out.splitlines()]
    assert [main(command[1:]) for command in commands] == [0, 0]
    found = [results(tmp_path / engine) for engine in ("ray", "local", "shell")]
    assert sum(name.endswith(".parquet") for name in found[0]) == 2
    assert found[0] == found[1] == found[2]
