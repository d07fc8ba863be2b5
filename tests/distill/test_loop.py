"""The loop and its checkpoints: stopping, going on, running away, and a disk that is full."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.distill import disk
from akd.distill.checkpoint import Checkpoint
from akd.distill.loop import CheckpointManager, distil
from akd.distill.result import motion_of, smooth_fps
from akd.distill.settings import DistillSettings, ScoreSettings, UnknownSettings
from akd.motion.parameters import MotionParameters
from akd.scene.stage import Stage
from tests.distill.known_prior import KnownPrior

pytestmark = pytest.mark.slow

SHAPE = (4, 16, 16, 3)
SETTINGS = DistillSettings(
    iterations=12, splats=200, checkpoint_every=4, camera_jitter=0.1,
    unknowns=UnknownSettings(knots=4), score=ScoreSettings(guidance=1.0),
)  # fmt: skip


class Broken(KnownPrior):
    """Gives nonsense at some calls."""

    def __init__(self, mean, spread, wrong):
        super().__init__(mean, spread)
        self.wrong, self.calls = wrong, 0

    def predict(self, latents, t, conditions):
        self.calls += 1
        result = super().predict(latents, t, conditions)
        return result * float("nan") if self.wrong(self.calls) else result


def mean() -> torch.Tensor:
    return torch.rand(SHAPE, generator=torch.Generator().manual_seed(11))


def start(rig) -> MotionParameters:
    settings = UnknownSettings(knots=4)
    return MotionParameters.start(rig, settings, frames=4, fps=8.0, leg_length=0.5, speed=0.3)


def run(tube, rig, keeper: CheckpointManager, *, prior=None, report=None, settings=SETTINGS):
    prior = prior or KnownPrior(mean(), 0.3)
    stage = Stage.of(tube, rig, prior, splats=200)
    unknowns = start(rig)
    history = distil(
        stage, prior, "bend", unknowns, settings,
        generator=torch.Generator().manual_seed(3), keeper=keeper, report=report,
    )  # fmt: skip
    return unknowns, history


def stop_at(iteration: int, error: type[BaseException]):
    def report(now, total, parts):
        if now == iteration:
            raise error

    return report


def same(a: MotionParameters, b: MotionParameters) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.leaves(), b.leaves(), strict=True))


@pytest.fixture(scope="module")
def whole(tube, rig):
    return run(tube, rig, CheckpointManager())


class Crash(Exception):
    pass


@pytest.mark.parametrize("iteration", [1, 9, 12])
def test_a_run_that_crashed_goes_on_bit_for_bit(tube, rig, tmp_path, whole, iteration):
    path = tmp_path / "state.safetensors"
    with pytest.raises(Crash):
        run(tube, rig, CheckpointManager(path), report=stop_at(iteration, Crash))
    kept = Checkpoint.load(path, belongs_to={})
    assert kept.iteration == iteration // 4 * 4
    resumed, history = run(tube, rig, CheckpointManager(path))
    assert same(whole[0], resumed)
    assert history == whole[1]


def test_ctrl_c_keeps_the_last_iteration_and_goes_on_bit_for_bit(tube, rig, tmp_path, whole):
    path = tmp_path / "state.safetensors"
    with pytest.raises(KeyboardInterrupt):
        run(tube, rig, CheckpointManager(path), report=stop_at(7, KeyboardInterrupt))
    assert Checkpoint.load(path, belongs_to={}).iteration == 7
    resumed, history = run(tube, rig, CheckpointManager(path))
    assert same(whole[0], resumed)
    assert history == whole[1]


def test_a_state_of_another_run_is_refused_and_says_what_differs(tube, rig, tmp_path):
    path = tmp_path / "state.safetensors"
    with pytest.raises(Crash):
        run(
            tube, rig, CheckpointManager(path, {"asset": "1", "prior": "2", "settings": "3"}),
            report=stop_at(5, Crash),
        )  # fmt: skip
    with pytest.raises(ValueError, match="belongs to another asset and another settings; give"):
        run(tube, rig, CheckpointManager(path, {"asset": "9", "prior": "2", "settings": "8"}))


def test_what_is_no_state_is_refused(tube, rig, tmp_path):
    path = tmp_path / "state.safetensors"
    path.write_bytes(b"half of it")
    with pytest.raises(ValueError, match="is no saved state"):
        run(tube, rig, CheckpointManager(path))


def test_nonsense_is_rolled_back_noted_and_got_over(tube, rig):
    """A bad answer at the seventh call: back to the fourth iteration, at half the pace."""
    prior = Broken(mean(), 0.3, lambda call: call == 7)
    keeper = CheckpointManager()
    unknowns, history = run(tube, rig, keeper, prior=prior)
    assert prior.calls == 12 + 3  # iterations 5, 6 and 7 twice
    assert len(history) == 12
    assert keeper.good is not None
    assert keeper.good.rollbacks == 1
    (note,) = keeper.good.notes
    assert note == (
        "iteration 6: ran away (loss nan); went back to iteration 4 with half the learning rate"
    )
    assert all(bool(leaf.isfinite().all()) for leaf in unknowns.leaves())


def test_a_run_that_was_rolled_back_and_stopped_goes_on_at_its_own_pace(tube, rig, tmp_path):
    def bad(call: int) -> bool:
        return call == 7

    once, _ = run(tube, rig, CheckpointManager(), prior=Broken(mean(), 0.3, bad))
    path = tmp_path / "state.safetensors"
    broken = Broken(mean(), 0.3, bad)
    with pytest.raises(Crash):
        run(tube, rig, CheckpointManager(path), prior=broken, report=stop_at(9, Crash))
    resumed, _ = run(tube, rig, CheckpointManager(path))
    assert same(once, resumed)


def test_nonsense_for_ever_is_reported_and_the_last_sound_state_kept(tube, rig):
    keeper = CheckpointManager()
    with pytest.raises(ArithmeticError, match="ran away 6 times, last at iteration 4: loss nan"):
        run(tube, rig, keeper, prior=Broken(mean(), 0.3, lambda call: call > 6))
    assert keeper.good is not None
    assert keeper.good.iteration == 4


def test_a_full_disk_leaves_the_state_that_was_there(tube, rig, tmp_path, monkeypatch):
    path = tmp_path / "state.safetensors"
    sync, calls = disk.os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(disk.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        run(tube, rig, CheckpointManager(path))
    assert Checkpoint.load(path, belongs_to={}).iteration == 4
    assert [p.name for p in tmp_path.iterdir()] == ["state.safetensors"]


def test_the_clip_passes_through_the_frames_and_is_smooth_in_between(tube, rig):
    prior = KnownPrior(mean(), 0.3)
    stage = Stage.of(tube, rig, prior, splats=50)
    unknowns = start(rig)
    with torch.no_grad():
        unknowns.angles.copy_(
            0.5 * torch.randn(unknowns.angles.shape, generator=torch.Generator().manual_seed(1))
        )
    coarse = motion_of(stage, unknowns, "bend")
    fine = motion_of(stage, unknowns, "bend", fps=24.0)
    assert smooth_fps(8.0) == 24.0
    assert smooth_fps(12.0) == 24.0
    assert smooth_fps(30.0) == 30.0
    assert len(coarse) == 4
    assert len(fine) == 10
    assert fine.duration == pytest.approx(coarse.duration)
    torch.testing.assert_close(fine.world()[::3], coarse.world(), atol=1e-4, rtol=1e-4)
    # Straight lines between frames would have all their bends at the frames.
    bends = (fine.world()[:-2] - 2 * fine.world()[1:-1] + fine.world()[2:]).abs().amax((1, 2, 3))
    assert float(bends[0]) > 0.1 * float(bends.max())


def test_settings_of_a_checkpoint_are_readable_without_us(tmp_path, tube, rig):
    from safetensors import safe_open

    path = tmp_path / "state.safetensors"
    run(
        tube, rig, CheckpointManager(path, {"asset": "1"}), settings=replace(SETTINGS, iterations=2)
    )
    with safe_open(Path(path), "pt") as file:
        about = file.metadata()
    assert about["format"] == "akd-distill-2"
    assert json.loads(about["belongs_to"]) == {"asset": "1"}
    assert len(json.loads(about["history"])) == 2


def test_pictures_are_coarse_for_a_part_of_the_iterations(tube, rig, monkeypatch):
    asked = []
    plain = Stage.show

    def show(self, *args, coarse=False, **options):
        asked.append(coarse)
        return plain(self, *args, coarse=coarse, **options)

    monkeypatch.setattr(Stage, "show", show)
    run(tube, rig, CheckpointManager(), settings=replace(SETTINGS, coarse=0.5))
    assert asked == [True] * 6 + [False] * 6
