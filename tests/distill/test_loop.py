"""The loop and its checkpoints: stopping, going on, running away, and a disk that is full."""

import errno
import gc
from dataclasses import replace

import pytest
import torch

from akd.base import files
from akd.base.observer import Observer, Observers
from akd.distill.checkpoint import Checkpoint, unpack
from akd.distill.loop import distil
from akd.distill.run_folder import RunError, RunFolder
from akd.distill.settings import DistillSettings, ScoreSettings
from akd.fit.losses import LossState, LossTerm
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.motion.settings import Spline
from akd.scene.stage import Stage
from tests.distill.fox import stage_for
from tests.distill.known_prior import KnownPrior

pytestmark = pytest.mark.slow

SHAPE = (4, 16, 16, 3)
SETTINGS = DistillSettings(
    iterations=12, splats=200, checkpoint_every=4, camera_jitter=0.1,
    parametrization=Spline(knots=4), score=ScoreSettings(guidance=1.0),
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


def start(rig) -> ControlCurves:
    return ControlCurves.start(MotionStart(rig, 4, 8.0, 0.5, 0.3), knots=4)


def run(tube, rig, observer: Observer | None = None, *, prior=None, settings=SETTINGS):
    prior = prior or KnownPrior(mean(), 0.3)
    stage = stage_for(tube, prior, splats=200)
    curves = start(rig)
    (went,) = distil(
        stage, prior, "bend", [curves], settings,
        generators=[torch.Generator().manual_seed(3)], observer=observer,
    )  # fmt: skip
    return curves, went


def folder_of(path, **job: str) -> RunFolder:
    folder = RunFolder(path)
    folder.start(job)
    return folder


def kept(folder: RunFolder) -> Checkpoint:
    found = folder.load("distil")
    assert found is not None
    return Checkpoint.from_tensors(unpack(found)[0])


class StopAt(Observer):
    """Raises after an iteration."""

    def __init__(self, iteration: int, error: type[BaseException]):
        self.iteration, self.error = iteration, error

    def step(self, iteration, iterations, values):
        if iteration == self.iteration:
            raise self.error


def same(a: ControlCurves, b: ControlCurves) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.tensors(), b.tensors(), strict=True))


@pytest.fixture(scope="module")
def whole(tube, rig):
    return run(tube, rig)


class Crash(Exception):
    pass


@pytest.mark.parametrize("iteration", [1, 9, 12])
def test_a_run_that_crashed_continues_bit_for_bit(tube, rig, tmp_path, whole, iteration):
    folder = folder_of(tmp_path)
    with pytest.raises(Crash):
        run(tube, rig, Observers(StopAt(iteration, Crash), folder))
    assert kept(folder).iteration == iteration // 4 * 4
    del folder  # which holds the lock
    gc.collect()
    resumed, went = run(tube, rig, folder_of(tmp_path))
    assert same(whole[0], resumed)
    assert went == whole[1]


def test_ctrl_c_keeps_the_last_iteration_and_continues_bit_for_bit(tube, rig, tmp_path, whole):
    folder = folder_of(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tube, rig, Observers(StopAt(7, KeyboardInterrupt), folder))
    assert kept(folder).iteration == 7
    resumed, went = run(tube, rig, folder)
    assert same(whole[0], resumed)
    assert went == whole[1]


def test_a_folder_of_another_run_is_refused_and_says_what_differs(tmp_path):
    folder_of(tmp_path, asset="1", prior="2")
    with pytest.raises(RunError, match=r"holds another run \(asset \"1\", now \"9\"\)"):
        folder_of(tmp_path, asset="9", prior="2")


def test_a_checkpoint_of_another_run_is_refused(tube, rig, tmp_path):
    folder = folder_of(tmp_path / "a", asset="1")
    run(tube, rig, folder, settings=replace(SETTINGS, iterations=1))
    other = folder_of(tmp_path / "b", asset="2")
    other.checkpoint("distil").write_bytes(folder.checkpoint("distil").read_bytes())
    with pytest.raises(RunError, match="belongs to another run"):
        run(tube, rig, other)


def test_what_is_no_checkpoint_is_logged_and_not_continued(tube, rig, tmp_path, whole):
    folder = folder_of(tmp_path)
    folder.checkpoint("distil").write_bytes(b"half of it")
    again, went = run(tube, rig, folder)
    assert '"event": "damaged"' in (folder.path / "log.jsonl").read_text()
    assert same(whole[0], again)
    assert went == whole[1]


def test_nonsense_is_rolled_back_noted_and_got_over(tube, rig):
    """A bad answer at the seventh call: back to the fourth iteration, at half the pace."""
    prior = Broken(mean(), 0.3, lambda call: call == 7)
    curves, went = run(tube, rig, prior=prior)
    assert prior.calls == 12 + 3  # iterations 5, 6 and 7 twice
    assert len(went.history) == 12
    assert went.notes == (
        "iteration 6: diverged (loss nan, from score); went back to iteration 4 with half the "
        "learning rate",
    )
    assert all(bool(value.isfinite().all()) for value in curves.tensors())


def test_a_run_that_was_rolled_back_and_stopped_continues_at_its_own_pace(tube, rig, tmp_path):
    def bad(call: int) -> bool:
        return call == 7

    once, _ = run(tube, rig, prior=Broken(mean(), 0.3, bad))
    folder = folder_of(tmp_path)
    broken = Broken(mean(), 0.3, bad)
    with pytest.raises(Crash):
        run(tube, rig, Observers(StopAt(9, Crash), folder), prior=broken)
    resumed, _ = run(tube, rig, folder)
    assert same(once, resumed)


def test_nonsense_for_ever_is_reported_and_the_last_sound_state_kept(tube, rig, tmp_path):
    folder = folder_of(tmp_path)
    with pytest.raises(
        ArithmeticError, match="diverged 6 times, last at iteration 4: loss nan, from score"
    ):
        run(tube, rig, folder, prior=Broken(mean(), 0.3, lambda call: call > 6))
    assert kept(folder).iteration == 4


def test_what_runs_away_is_named(tube, rig):
    """A loss that only the root can lower, without end."""

    def away(state: LossState) -> torch.Tensor:
        assert state.controls is not None
        return -state.controls.translation[..., 1].mean()

    prior = KnownPrior(mean(), 0.3)
    curves = ControlCurves.start(MotionStart(rig, 4, 8.0, 0.5, 0.3), knots=4, free_root=True)
    settings = replace(SETTINGS, learning_rate=8.0, iterations=40)
    with pytest.raises(ArithmeticError, match=r"diverged 6 times.* root reached 2[0-9.]+, must"):
        distil(
            stage_for(tube, prior, splats=50), prior, "bend", [curves], settings,
            generators=[torch.Generator().manual_seed(3)],
            losses=[LossTerm("away", 1e9, away)],
        )  # fmt: skip


def test_a_full_disk_leaves_the_checkpoint_that_was_there(tube, rig, tmp_path, monkeypatch):
    folder = folder_of(tmp_path)
    sync, calls = files.os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) > 4:  # a file and its folder each time
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        run(tube, rig, folder)
    assert kept(folder).iteration == 4
    assert not [p for p in folder.path.iterdir() if ".part" in p.name]


def test_losses_of_ones_own_join_the_history(tube, rig):
    def mine(state: LossState) -> torch.Tensor:
        return state.transforms.square().mean()

    stage = stage_for(tube, KnownPrior(mean(), 0.3), splats=50)
    (went,) = distil(
        stage, KnownPrior(mean(), 0.3), "bend", [start(rig)], replace(SETTINGS, iterations=2),
        generators=[torch.Generator().manual_seed(3)], losses=[LossTerm("mine", 2.0, mine)],
    )  # fmt: skip
    assert set(went.history[0]) == {"loss", "score", "mine", "score_rms"}
    assert went.history[0]["mine"] > 0.0


def test_the_clip_passes_through_the_frames_and_is_smooth_in_between(tube, rig):
    prior = KnownPrior(mean(), 0.3)
    stage = stage_for(tube, prior, splats=50)
    curves = start(rig)
    with torch.no_grad():
        curves.angles.copy_(
            0.5 * torch.randn(curves.angles.shape, generator=torch.Generator().manual_seed(1))
        )
    coarse = curves.motion("bend", lift=stage.lift)
    fine = curves.motion("bend", lift=stage.lift, fps=24.0)
    assert len(coarse) == 4
    assert len(fine) == 10
    assert fine.duration == pytest.approx(coarse.duration)
    torch.testing.assert_close(fine.world()[::3], coarse.world(), atol=1e-4, rtol=1e-4)
    # Straight lines between frames would have all their bends at the frames.
    bends = (fine.world()[:-2] - 2 * fine.world()[1:-1] + fine.world()[2:]).abs().amax((1, 2, 3))
    assert float(bends[0]) > 0.1 * float(bends.max())


def test_a_part_of_the_iterations_is_rendered_at_half_size(tube, rig, monkeypatch):
    asked = []
    plain = Stage.show

    def show(self, *args, half_size=False, **options):
        asked.append(half_size)
        return plain(self, *args, half_size=half_size, **options)

    monkeypatch.setattr(Stage, "show", show)
    run(tube, rig, settings=replace(SETTINGS, half_size=0.5))
    # The last call renders the preview.
    assert asked == [True] * 6 + [False] * 7


def test_a_batch_gives_what_each_candidate_gives_alone(tube, rig):
    """Up to rounding; one that diverges and is rolled back does not change the other."""

    class OneRowBroken(KnownPrior):
        calls = 0

        def predict(self, latents, t, conditions):
            self.calls += 1
            result = super().predict(latents, t, conditions).clone()
            if self.calls == 7:
                result[1] = float("nan")
            return result

    def distilled(prior, seeds: list[int]):
        stage = stage_for(tube, prior, splats=200)
        candidates = [start(rig) for _ in seeds]
        went = distil(
            stage, prior, "bend", candidates, SETTINGS,
            generators=[torch.Generator().manual_seed(seed) for seed in seeds],
        )  # fmt: skip
        return candidates, went

    known = KnownPrior(mean(), 0.3)
    (alone,), _ = distilled(known, [3])
    together, went = distilled(known, [3, 4])
    assert not same(together[0], together[1])
    beside, rolled = distilled(OneRowBroken(mean(), 0.3), [3, 4])
    assert [len(one.notes) for one in (*went, *rolled)] == [0, 0, 0, 1]
    for other in (together[0], beside[0]):
        for x, y in zip(alone.tensors(), other.tensors(), strict=True):
            torch.testing.assert_close(x, y, atol=1e-4, rtol=1e-3)
