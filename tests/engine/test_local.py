"""Jobs on one machine: each done once, failures alone, restarts that do the rest."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from akd.base.files import write_json
from akd.engine.call import Busy, Call, Ended, Resources, Seat
from akd.engine.folder import JobFolder, execute
from akd.engine.job import Job
from akd.engine.local import Local
from akd.engine.queue import run_calls
from akd.engine.run import BatchBusy, hold_batch, run_jobs
from akd.engine.shell import Shell
from tests.base.clock import set_back
from tests.engine import dummies
from tests.engine.dummies import counted, numbers, results


@pytest.fixture(scope="module")
def local():
    engine = Local(cpus=2)
    yield engine
    engine.close()


def states(events):
    return {event.job.label: event.state for event in events}


def test_failures_stay_alone_and_a_restart_does_the_rest(local, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hello")
    jobs = [
        *numbers(3),
        Job(dummies.write_number, {"number": 7, "die": True}, "dies once", files={"text": text}),
        Job(dummies.fail, {}, "fails"),
        Job(dummies.refuse, {"number": 9}, "refused"),
        Job(dummies.answer_badly, {}, "answers badly"),
        Job(dummies.fail_in_two, {}, "fails in two"),
        Job(dummies.die, {}, "always dies"),
    ]
    out = tmp_path / "out"
    events = list(run_jobs([*jobs, *jobs], out, local))
    assert states(events) == {
        "number 0": "done", "number 1": "done", "number 2": "done", "dies once": "done",
        "fails": "failed", "refused": "failed", "answers badly": "failed",
        "fails in two": "failed", "always dies": "failed",
    }  # fmt: skip
    attempts = {e.job.label: e.attempt for e in events if e.state in ("done", "failed")}
    assert attempts["fails"] == attempts["always dies"] == 3
    assert attempts["refused"] == 1
    assert attempts["dies once"] == 2
    died = next(e for e in events if e.state == "done" and e.job.label == "dies once")
    assert died.values == {"square": 49, "resumed": True}
    assert (out / died.job.name / "text.txt").read_text() == "hello"
    assert JobFolder(out, jobs[-2]).failure() == "OfTwo: no answer"
    failed = JobFolder(out, jobs[4])
    assert failed.failure() == "no luck"
    log = failed.log.read_text()
    assert log.count("about to fail") == log.count("RuntimeError: no luck") == 3
    died = JobFolder(out, jobs[-1])
    assert died.failure() == "the worker process ended with exit code -9"
    assert died.log.read_text().count("about to die") == 3
    assert set(counted(out / "ended").values()) == {1}

    before = results(out)
    again = list(run_jobs([*jobs[:4], *numbers(5)], out, local))
    assert {e.job.label for e in again if e.state == "done"} == {"number 3", "number 4"}
    assert sum(e.state == "earlier" for e in again) == 4
    assert set(counted(out / "ended").values()) == {1}
    assert before.items() <= results(out).items()


def test_a_killed_worker_costs_an_attempt_of_one_job(local, tmp_path):
    jobs = [
        Job(dummies.write_number, {"number": 1, "seconds": 60.0}, "killed"),
        *numbers(3, seconds=0.05),
    ]
    killed = JobFolder(tmp_path, jobs[0]).work / "pid"
    found = []
    for event in run_jobs(jobs, tmp_path, local):
        found.append((event.job.label, event.state))
        if event.state == "done" and len(found) == 7:  # the others are done
            while not (killed.exists() and killed.read_text()):
                time.sleep(0.05)
            os.kill(int(killed.read_text()), signal.SIGKILL)
    assert ("killed", "retried") in found
    assert sum(state == "done" for _, state in found) == 4
    assert counted(tmp_path / "began") == {"0": 1, "1": 3, "2": 1}  # number 1 twice, in two jobs


def test_a_job_has_its_gpus_to_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5,6,7")
    engine = Local(cpus=8)
    jobs = [
        Job(dummies.name_gpus, {"number": k, "others": 4}, str(k), resources=Resources(1, gpus))
        for k, gpus in enumerate((2.0, 1.0, 0.5, 0.5))
    ]
    found = {
        event.job.label: event.values["gpus"]
        for event in run_jobs(jobs, tmp_path, engine)
        if event.state == "done"
    }
    engine.close()
    assert found == {"0": "3,5", "1": "6", "2": "7", "3": "7"}


def _run_one(out: Path) -> None:
    list(run_jobs(numbers(1, seconds=300.0), out, Local(cpus=1)))


def test_workers_end_with_a_batch_that_is_killed(tmp_path):
    batch = multiprocessing.get_context("spawn").Process(target=_run_one, args=(tmp_path,))
    batch.start()
    (job,) = numbers(1, seconds=300.0)
    left = JobFolder(tmp_path, job).work / "pid"
    wait_for(left.exists)
    assert not _is_free(job, tmp_path)
    batch.kill()
    batch.join()
    wait_for(lambda: _is_free(job, tmp_path))


def _is_free(job: Job, out: Path) -> bool:
    """Whether no process runs a job."""
    try:
        with JobFolder(out, job).claim():
            return True
    except Busy:
        return False


def wait_for(is_so, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_job_that_another_process_does_is_waited_for(local, tmp_path, monkeypatch):
    monkeypatch.setattr("akd.engine.queue.BUSY_SECONDS", 0.05)
    (job,) = numbers(1)
    events = run_jobs([job], tmp_path, local)
    with JobFolder(tmp_path, job).claim():
        assert next(events).state == "started"
        with pytest.raises(Busy, match="another process runs it"):
            execute(job, tmp_path, Seat("here", {}))
    assert [event.state for event in events][-1] == "done"
    assert counted(tmp_path / "ended") == {"0": 1}


class Here:
    """An engine in this process, whose clock can be changed."""

    def __init__(self):
        self.ended = []

    def has_gpus(self):
        return False

    def accepts(self, resources):
        return True

    def submit(self, call):
        try:
            ended = Ended(call.key, call.function(*call.arguments, Seat("here", {})), None)
        except Exception as error:
            ended = Ended(call.key, None, error)
        self.ended.append(ended)

    def collect(self, timeout):
        ended, self.ended = self.ended, []
        return ended

    def close(self):
        pass


def test_a_clock_that_is_set_back_changes_nothing(tmp_path, monkeypatch):
    list(run_jobs(numbers(3), tmp_path / "wanted", Here()))
    set_back(monkeypatch)
    jobs = [*numbers(3), Job(dummies.fail, {}, "fails")]
    out = tmp_path / "out"
    assert sum(e.state == "done" for e in run_jobs(jobs[:2], out, Here())) == 2
    events = list(run_jobs(jobs, out, Here()))
    assert states(events) == {
        "number 0": "earlier", "number 1": "earlier", "number 2": "done", "fails": "failed"
    }  # fmt: skip
    assert results(out) == results(tmp_path / "wanted")
    assert all(JobFolder(out, job).last_attempt()["seconds"] >= 0.0 for job in jobs)


def test_what_a_killed_attempt_left_is_no_result(tmp_path):
    (job,) = numbers(1)
    work = JobFolder(tmp_path, job).work
    for name in (".0123456789abcdef.part.mp4", "run/.0123456789abcdef.part", ".part", ".mine"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("half")
    execute(job, tmp_path, Seat("here", {}))
    names = {str(p.relative_to(tmp_path / job.name)) for p in (tmp_path / job.name).rglob("*")}
    assert names == {"number.txt", "outcome.json", "run", ".part", ".mine"}


@pytest.mark.parametrize("at", ["run", "job", "work"])
def test_links_in_the_folder_of_a_batch_are_refused(local, tmp_path, at):
    (job,), mine, out = numbers(1), tmp_path / "mine", tmp_path / "out"
    (mine / "run").mkdir(parents=True)
    (mine / "run" / "kept").touch()
    (mine / ".0123456789abcdef.part").touch()
    folder = JobFolder(out, job)
    link = {"run": folder.path.parent, "job": folder.path, "work": folder.work}[at]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(mine)
    (event,) = [e for e in run_jobs([job], out, local) if e.state == "failed"]
    assert event.error.startswith(f"{link}: must not be a link")
    left = {path.relative_to(mine).as_posix() for path in mine.rglob("*")}
    assert left == {"run", "run/kept", ".0123456789abcdef.part"}


@pytest.mark.parametrize("spoil", ["job", "work", "log", "pipe", "attempt"])
def test_a_damaged_folder_fails_alone(local, tmp_path, spoil):
    bad, good = numbers(2)
    folder = JobFolder(tmp_path, bad)
    if spoil == "job":
        folder.path.parent.mkdir()
        folder.path.touch()
    else:
        folder.path.mkdir(parents=True)
    match spoil:
        case "work":
            folder.work.touch()
        case "log":
            folder.log.mkdir()
        case "pipe":
            os.mkfifo(folder.log)
        case "attempt":
            (folder.path / "attempt.json").mkdir()
    found = states(run_jobs([bad, good], tmp_path, local))
    assert found == {"number 0": "failed", "number 1": "done"}


@pytest.mark.parametrize("values", [[1], "x", None, 3])
def test_an_outcome_of_another_kind_is_none(tmp_path, values):
    folder = JobFolder(tmp_path, numbers(1)[0])
    write_json(folder.result / "outcome.json", {"id": folder.job.id, "values": values})
    assert folder.outcome() is None


def test_one_batch_at_a_time(tmp_path):
    with (
        hold_batch(tmp_path),
        pytest.raises(BatchBusy, match="another process runs a batch"),
        hold_batch(tmp_path),
    ):
        pass
    with hold_batch(tmp_path):
        pass


def test_ids_follow_from_the_content(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("a")
    job = Job(dummies.fail, {"number": 1}, "Über/../ein Fuchs!", files={"text": file})
    assert job.name == f"ber-ein-fuchs-{job.id[:12]}"
    same = Job(dummies.fail, {"number": 1}, "another label", files={"text": file})
    assert same.id == job.id
    file.write_text("bc")
    changed = Job(dummies.fail, {"number": 1}, "a", files={"text": file})
    assert len({changed.id, job.id, Job(dummies.fail, {"number": 2}, "a").id}) == 3
    huge = tmp_path / "huge.glb"
    with huge.open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert Job(dummies.fail, {}, "huge", files={"text": huge}).id not in (job.id, same.id)


def test_shell_writes_a_command_a_job(tmp_path):
    lines = []
    shell = Shell(lambda key: ("akd", "batch", "my jobs.toml", "--only", key), write=lines.append)
    jobs = numbers(3)
    events = list(run_jobs(jobs, tmp_path, shell))
    assert [e.state for e in events] == ["started"] * 3 + ["deferred"] * 3
    assert lines == [f"akd batch 'my jobs.toml' --only {job.id}" for job in jobs]


class Slots:
    """An engine of one GPU and two cores that runs nothing."""

    def __init__(self):
        self.running = []

    def has_gpus(self):
        return True

    def accepts(self, resources):
        used = sum(c.resources.cpus for c in self.running)
        gpus = sum(c.resources.gpus for c in self.running)
        return used + resources.cpus <= 2 and gpus + resources.gpus <= 1

    def submit(self, call):
        self.running.append(call)

    def collect(self, timeout):
        return [Ended(self.running.pop(0).key)]

    def close(self):
        pass


def test_a_large_call_holds_up_no_small_one():
    wants = [Resources(1, 1.0), Resources(1, 1.0), Resources(1, 0.0)]
    calls = [Call(str(k), print, (), need) for k, need in enumerate(wants)]
    progress = [(p.call.key, p.ended is None) for p in run_calls(calls, Slots())]
    assert progress[:2] == [("0", True), ("2", True)]
    assert sorted(key for key, started in progress if not started) == ["0", "1", "2"]


def test_no_call_starts_after_the_time():
    calls = (Call(str(k), print) for k in range(100))
    found = list(run_calls(calls, Slots(), until=time.monotonic() - 1.0))
    assert found == []
