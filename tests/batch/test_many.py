"""`animate_many`: clips do not depend on how many are made at a time."""

import pytest
import torch

import akd
from akd.distill.settings import DistillSettings
from akd.export.creature import write_creature
from akd.fit.settings import WarmStartSettings
from akd.zoo.creature import build_creature
from tests.commands.small_prior import write_weights

SETTINGS = DistillSettings(
    iterations=2, splats=100,
    warm_start=WarmStartSettings(
        samples=1, steps=1, trial=0, iterations=2, finalists=1, phase_search=False
    ),
)  # fmt: skip


@pytest.mark.slow
def test_clips_do_not_depend_on_the_number_of_processes(tmp_path) -> None:
    path, weights = tmp_path / "fox.glb", write_weights(tmp_path / "weights", frames=12)
    write_creature(build_creature("fox", vertices=800), [], path)
    jobs = [akd.Job(path, "a fox walking", seed=seed) for seed in (0, 1)]
    options = {
        "weights": weights, "preset": SETTINGS, "physics": False, "steering": False,
        "device": "cpu",
    }  # fmt: skip
    found = {}
    for processes in (1, 2):
        for job, made in akd.animate_many(jobs, processes=processes, **options):
            assert isinstance(made, akd.Animation), made
            found[processes, job.seed] = made.motion.pose
    for seed in (0, 1):
        one, other = found[1, seed], found[2, seed]
        assert torch.equal(one.translation, other.translation)
        assert torch.equal(one.rotation, other.rotation)
    assert not torch.equal(found[1, 0].rotation, found[1, 1].rotation)


@pytest.mark.parametrize("name", ["processes", "threads"])
@pytest.mark.parametrize("value", [0, -1, True, 1025])
def test_there_must_be_a_process_and_a_thread(name: str, value: int) -> None:
    said = f"{name} must be a whole number from 1 to 1024, got {value!r}"
    with pytest.raises(ValueError, match=said):
        next(akd.animate_many([akd.Job("fox.glb", "a fox walking")], device="cpu", **{name: value}))
