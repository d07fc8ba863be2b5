"""Harvesting poses: shards, tables, filters, and continuing."""

import math
from dataclasses import replace

import pytest
import torch

from akd.batch.harvest import (
    HarvestBody,
    HarvestModels,
    asset_body,
    evenly_mixed,
    harvest,
    harvest_jobs,
    taken_in_turn,
)
from akd.batch.harvest_fit import FittedPoses, HarvestSettings
from akd.fit.regressor.network import RegressorNetwork
from akd.fit.regressor.regressor import save_regressor
from akd.fit.regressor.settings import RegressorSettings
from akd.fit.settings import WarmStartSettings
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import GLIDING, PADDLING, RECOGNISERS
from akd.motion.actions import action_label
from akd.posespace.dataset import load_poses
from akd.posespace.shards import read_tables
from akd.prior.tiny.bodies import repertoire
from akd.scene.settings import SceneStyle
from tests.distill.fox import Screen

QUICK = HarvestSettings(
    videos=2, iterations=1, difference=math.inf, judgement=0.5,
    warm_start=WarmStartSettings(steps=1, phase_search=False),
)  # fmt: skip


@pytest.fixture
def body(fox) -> HarvestBody:
    return HarvestBody("fox 0", "zoo", "fox", "fox", lambda: fox)


def run(body, out, *, judge, settings=QUICK, actions=("walking",)):
    asked = {"actions": actions, "settings": settings, "judge": judge}
    return list(harvest(body, out, models=HarvestModels(Screen()), **asked))


@pytest.mark.slow
def test_poses_and_provenance_are_written_and_kept(body, tmp_path):
    def second(videos):
        assert videos.shape == (2, 8, 48, 48, 3)
        return torch.tensor([0.2, 0.9])

    ((prompt, rows),) = run(body, tmp_path, judge=second)
    assert prompt == "a fox walking"
    assert [row["reason"] for row in rows[:8]] == ["judgement"] * 8
    kept = [row for row in rows if row["kept"]]
    assert {row["sample"] for row in kept} == {1}
    poses = load_poses(tmp_path)
    assert len(poses) == len(kept) >= 1
    assert poses.records[0].source == "harvest"
    assert poses.clips[0].name == "a fox walking #1"
    for suffix in (".parquet", ".safetensors"):  # of a process that was killed while it wrote
        (tmp_path / f".0123456789abcdef.part{suffix}").write_bytes(b"half")
    assert len(load_poses(tmp_path)) == len(poses)
    assert list(read_tables(tmp_path)) == rows
    assert run(body, tmp_path, judge=second) == []


class Watcher(Recogniser):
    """Says that one video shows another action than was asked for, and one none."""

    def __call__(self, videos):
        return torch.tensor([[0.1, 0.8, 0.05, 0.05], [0.3, 0.1, 0.4, 0.2]])


@pytest.mark.slow
def test_a_fit_that_shows_another_action_is_kept_and_a_gliding_statue_is_not(body, tmp_path):
    network = build_network(replace(RECOGNISERS["a"], frames=Screen.frames))
    watcher = Watcher(network, ("walk", "sit_down", GLIDING, PADDLING))
    models = HarvestModels(Screen(), recogniser=watcher)
    ((_, rows),) = harvest(body, tmp_path, models=models, actions=("walking",), settings=QUICK)
    assert {row["sample"] for row in rows if row["kept"]} == {0}
    assert {row["reason"] for row in rows if row["sample"] == 1} == {"judgement"}
    assert [row["judgement"] for row in rows[::8]] == pytest.approx([0.9, 0.4])


@pytest.mark.slow
def test_a_job_without_poses_is_done_too(body, tmp_path):
    def never(videos):
        return torch.zeros(len(videos))

    assert len(run(body, tmp_path, judge=never)) == 1
    assert run(body, tmp_path, judge=never) == []
    with pytest.raises(ValueError, match=r"must hold \.safetensors files of poses, got none"):
        load_poses(tmp_path)


@pytest.mark.slow
def test_shards_of_one_body_are_merged(body, tmp_path):
    def always(videos):
        return torch.ones(len(videos))

    run(body, tmp_path, judge=always, actions=("walking", "trotting"))
    poses = load_poses(tmp_path)
    assert len(poses.records) == 1
    assert {clip.name.split(" #")[0] for clip in poses.clips} == {"a fox walking", "a fox trotting"}
    assert int(poses.clip_of.max()) == len(poses.clips) - 1


def test_bodies_of_the_zoo_are_on_the_training_side():
    jobs = list(harvest_jobs(zoo=30))
    names = [job.label for job in jobs]
    assert len({job.id for job in jobs}) == 30
    assert len(set(names)) == 30
    assert not any(name.split()[0] in ("cat", "giraffe", "ostrich") for name in names)
    assert all(int(name.split()[1]) >= 1000 for name in names)


def test_further_seeds_are_further_jobs():
    jobs = list(harvest_jobs(zoo=2, seed=5, seeds=2))
    assert [job.arguments["seed"] for job in jobs] == [5, 5, 6, 6]
    assert len({job.id for job in jobs}) == len({job.label for job in jobs}) == 4
    assert jobs[:2] == list(harvest_jobs(zoo=2, seed=5))


def test_a_body_is_asked_for_all_that_suits_it(fox):
    biped_alone = {"punching", "waving", "running", "dancing"}
    every = set(repertoire(fox.anatomy))
    assert {"galloping", "sitting", "lying down", "turning left", "walking, slowly"} <= every
    assert not every & (biped_alone | {"flying", "swimming", "scuttling"})
    assert all(action_label(f"a fox {phrase}") is not None for phrase in every)
    few = repertoire(fox.anatomy, ("walk", "trot", "run", "quickly"))
    assert set(few) == {"walking", "trotting", "walking, quickly"}


@pytest.mark.slow
def test_other_weights_are_other_jobs(body, tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "tiny-1.safetensors").write_bytes(b"other")
    ((job,),) = ([*harvest_jobs(zoo=1, weights=folder)],)
    assert job.id != next(iter(harvest_jobs(zoo=1))).id
    assert job.arguments["weights"] == str(folder)
    assert [job] == list(harvest_jobs(zoo=1, prior=str(folder)))

    def always(videos):
        return torch.ones(len(videos))

    asked = {"actions": ("walking",), "settings": QUICK, "judge": always}
    made_by = set()
    for weights in (None, folder):
        models = HarvestModels.find(Screen(), weights)
        ((_, rows),) = harvest(body, tmp_path / "out", models=models, **asked)
        made_by.add(rows[0]["weights"])
        assert not list(harvest(body, tmp_path / "out", models=models, **asked))
    assert len(made_by) == 2


def test_a_regressor_that_does_not_read_the_prior_is_refused(tmp_path):
    screen = Screen()
    settings = RegressorSettings(screen.frames + 1, 16, (8, 8), width=32, layers=1)
    path = save_regressor(RegressorNetwork(settings), tmp_path)
    with pytest.raises(ValueError, match=rf"regressor\.safetensors: reads .* {settings.frames} f"):
        HarvestModels.find(screen, regressor=path)
    own = replace(settings, frames=screen.frames)
    path = save_regressor(RegressorNetwork(own), tmp_path)
    screen.style = SceneStyle.ROLES
    assert HarvestModels.find(screen, regressor=path).regressor is not None


@pytest.mark.slow
def test_gaits_for_another_number_of_legs_are_left_out(body, tmp_path):
    models = HarvestModels(Screen())
    asked = {"actions": ("running", "galloping"), "settings": QUICK}
    found = harvest(body, tmp_path, models=models, **asked)
    assert [prompt for prompt, _ in found] == ["a fox galloping"]


def test_poses_off_the_ground_are_dropped(fox):
    from akd.posespace.codec import PoseCodec
    from akd.posespace.ground import FLIGHT, STANDING, lifted

    codec = PoseCodec.of(fox)
    states = lifted(torch.zeros(3, codec.body.tokens, 3), torch.tensor([0.0, 0.2, -0.1]))
    fit = FittedPoses(states, difference=0.0, shown=torch.zeros(3, 2, 2, 3))
    for highest, fates in ((STANDING, ["", "ground", "ground"]), (FLIGHT, ["", "", "ground"])):
        assert fit.fates(codec, HarvestSettings(), judgement=1.0, highest=highest) == fates


@pytest.mark.slow
def test_prompts_that_are_fitted_together_keep_their_own_videos(body, tmp_path):
    """Three prompts, two of them with the same losses, in whatever batches: the same poses."""
    actions = ("walking", "sitting", "walking, slowly")
    found = {}
    for batch in (2, 64):
        settings = replace(QUICK, batch=batch)
        judge = lambda videos: torch.ones(len(videos))  # noqa: E731
        rows = run(body, tmp_path / str(batch), judge=judge, settings=settings, actions=actions)
        found[batch] = {
            (prompt, row["sample"]): row["difference"] for prompt, rows in rows for row in rows
        }
    assert {prompt for prompt, _ in found[2]} == {f"a fox {action}" for action in actions}
    assert found[64] == pytest.approx(found[2], rel=1e-4)


def test_jobs_that_are_stopped_anywhere_are_a_mix():
    assert taken_in_turn([[1, 2, 3], [4], [5, 6]]) == [1, 4, 5, 2, 6, 3]
    assert evenly_mixed("abcd", "xy") == ["a", "x", "b", "c", "y", "d"]
    assert evenly_mixed("ab", "") == ["a", "b"]


@pytest.mark.slow
def test_a_bare_mesh_is_rigged_first(fox, tmp_path):
    path = tmp_path / "fox.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in fox.mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in fox.mesh.faces.tolist()]
    path.write_text("\n".join(lines))
    body = asset_body("fox.obj", "foxes", path)
    run(body, tmp_path / "out", judge=lambda videos: torch.ones(len(videos)))
    poses = load_poses(tmp_path / "out")
    assert poses.records[0].tokens > 8
