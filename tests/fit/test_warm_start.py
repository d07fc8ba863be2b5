"""A start that moves: the phase of every limb, and the better one of several videos."""

import math

import pytest
import torch

import akd
from akd.base.observer import Observer
from akd.export.creature import write_creature
from akd.fit.losses import default
from akd.fit.phase_search import search_phases
from akd.fit.pose_search import search_poses
from akd.fit.settings import WarmStartSettings
from akd.fit.warm_start import fit_finalists, fit_to_videos
from akd.motion.parametrization import MotionStart
from akd.motion.root_limits import root_limits
from akd.motion.settings import Cycle
from akd.rig.roles.role import Part
from akd.zoo.creature import build_creature
from tests.distill.fox import fox_stage, standing

pytestmark = pytest.mark.slow

PERIOD = 0.6
STEP = 2.0 * math.pi / 8
"""Between the phases that are tried."""


@pytest.fixture(scope="module")
def stage(fox):
    return fox_stage(fox, splats=400)


def uppers(fox) -> list[int]:
    roles = enumerate(fox.control_rig.roles)
    return [i for i, role in roles if role.limb is not None and role.part is Part.UPPER]


def swinging(fox, phases: list[float]):
    """The thighs and upper arms swing by 0.45 rad, each in its own phase."""
    curves = standing(fox, period=PERIOD)
    unit = math.sqrt(2.0 / len(curves.angles))
    with torch.no_grad():
        for control, phase in zip(uppers(fox), phases, strict=True):
            wave = 0.45 * torch.tensor([math.cos(phase), -math.sin(phase)])
            curves.angles[1:3, control, 0] = wave / unit
    return curves


def shown(stage, curves) -> torch.Tensor:
    with torch.no_grad():
        controls = curves.controls()
        return stage.show(stage.transforms(controls))


def test_the_phase_of_every_limb_is_found_in_a_video(fox, stage):
    true = [0.3, 3.5, 1.9, 5.1]  # none is one of those that are tried
    target = shown(stage, swinging(fox, true))
    found = standing(fox, period=PERIOD)
    search_phases(stage, found, target)
    for control, phase in zip(uppers(fox), true, strict=True):
        cosine, sine = found.angles.detach()[1:3, control, 0].tolist()
        assert math.hypot(cosine, sine) > 0.0, fox.control_rig.roles[control]
        off = (math.atan2(-sine, cosine) - phase + math.pi) % (2.0 * math.pi) - math.pi
        assert abs(off) < STEP, fox.control_rig.roles[control]


def test_a_leg_that_is_bent_as_it_comes_forward_is_found_bent(tmp_path):
    path = tmp_path / "man.glb"
    write_creature(build_creature("man", seed=1004, vertices=900), [], path)
    man = akd.load(path)
    rig, stage = man.control_rig, fox_stage(man)
    start = MotionStart(rig, 12, 12.0, 0.9, 2.0, PERIOD, symmetrical=True)
    runs, found = (Cycle().begin(start, stage) for _ in range(2))
    place = {str(role): i for i, role in enumerate(rig.roles)}
    thigh, knee = place["left leg upper"], place["left leg lower"]
    unit = math.sqrt(2.0 / len(runs.angles))
    with torch.no_grad():  # as people run: mean, size and phase
        for control, mean, size, phase in ((thigh, -0.25, 0.45, 0.0), (knee, 0.75, 0.45, -1.7)):
            wave = (mean / math.sqrt(0.5), size * math.cos(phase), -size * math.sin(phase))
            runs.angles[:3, control, 0] = 2.0 * torch.tensor(wave) / unit
    search_phases(stage, found, shown(stage, runs))
    with torch.no_grad():
        true, guess = (curves.controls().angles[..., 0] for curves in (runs, found))
    for joint in (thigh, knee):
        assert float((true[:, joint] - guess[:, joint]).abs().mean()) < 0.3
    # Held at its limit, a knee would have no gradient.
    back, forth = (float(side[knee, 0]) for side in (found.limits.back, found.limits.forth))
    assert -0.9 * back < float(guess[:, knee].mean()) < 0.9 * forth


def test_what_has_no_cycle_is_not_guessed(fox, stage):
    once = standing(fox)
    search_phases(stage, once, shown(stage, once))
    assert float(once.angles.detach().abs().max()) == 0.0


def test_poses_of_arms_are_found_where_there_is_no_cycle(tmp_path):
    write_creature(build_creature("man", vertices=800), [], tmp_path / "man.glb")
    man = akd.load(tmp_path / "man.glb")
    stage = fox_stage(man, splats=400)
    arm, other = (
        next(i for i, role in enumerate(man.control_rig.roles) if str(role) == f"{side} arm upper")
        for side in ("left", "right")
    )

    start = MotionStart(man.control_rig, frames=8, fps=8.0, leg_length=1.0)
    moved, found = Cycle().begin(start, stage), Cycle().begin(start, stage)
    angles = torch.zeros(8, len(man.control_rig), 3)
    angles[3:6, arm, 0] = -1.6  # forward, as for a blow
    moved.set_angles(angles)
    search_poses(stage, [found], shown(stage, moved)[None])
    seen = found.controls().angles.detach()
    assert float((seen[3:6, arm, 0] + 1.6).abs().max()) < 0.6
    assert float(seen[[0, 7], arm, 0].abs().max()) < 0.6
    assert float(seen[:, other, 0].abs().max()) < 0.6


def test_a_leg_that_cannot_be_seen_is_behind_the_other_and_the_body_comes_down(tmp_path):
    """Both legs are folded, as in sitting down: the far one is hidden all the while."""
    write_creature(build_creature("man", vertices=800), [], tmp_path / "man.glb")
    man = akd.load(tmp_path / "man.glb")
    stage, rig = fox_stage(man, splats=800), man.control_rig
    thighs, knees = (
        [i for i, role in enumerate(rig.roles) if str(role).endswith(f"leg {part}")]
        for part in ("upper", "lower")
    )
    start = MotionStart(rig, frames=8, fps=8.0, leg_length=1.0, root=root_limits("a man sits down"))
    folded, found = Cycle().begin(start, stage), Cycle().begin(start, stage)
    angles = torch.zeros(8, len(rig), 3)
    angles[2:, thighs, 0], angles[2:, knees, 0] = -1.3, 1.4
    folded.set_angles(angles)
    search_poses(stage, [found], shown(stage, folded)[None])
    seen = found.controls()
    assert float((seen.angles.detach()[4:, thighs, 0] + 1.3).abs().max()) < 0.7
    low, _ = stage.sole_points.at(stage.transforms(seen))
    assert float(low.detach().amin(1)[4:].abs().max()) < 0.05 * man.height
    assert float(seen.translation.detach()[4:, 1].max()) < -0.05 * man.height


def test_four_legs_are_not_guessed_without_a_cycle(fox, stage):
    once = standing(fox)
    search_poses(stage, [once], shown(stage, once)[None])
    assert float(once.angles.detach().abs().max()) == 0.0


@pytest.fixture
def videos(fox, stage):
    """The first can be danced, the second is nothing but noise."""
    true = shown(stage, swinging(fox, [0.3, 3.5, 1.9, 5.1]))
    noise = torch.rand(true.shape, generator=torch.Generator().manual_seed(1))
    return torch.stack((true, noise))


def settings(trial: int = 2, iterations: int = 2, finalists: int = 1) -> WarmStartSettings:
    """Without the search for phases, which has a test of its own."""
    return WarmStartSettings(
        trial=trial, iterations=iterations, finalists=finalists, phase_search=False
    )


class Steps(Observer):
    """Remembers every step."""

    def __init__(self):
        self.seen = []

    def step(self, iteration, iterations, values):
        self.seen.append((iteration, iterations, values["difference"]))


class Begin:
    """Makes curves, and remembers for which video."""

    def __init__(self, fox):
        self.fox, self.made = fox, []

    def __call__(self, video):
        curves = standing(self.fox, period=PERIOD)
        self.made.append((video, curves))
        return curves


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_video_that_can_be_danced_is_chosen(fox, stage, videos, order):
    begin, steps = Begin(fox), Steps()
    (found,) = fit_finalists(
        stage, videos[list(order)], begin, default(), settings(), observer=steps
    )
    assert [torch.equal(v, videos[k]) for (v, _), k in zip(begin.made, order, strict=True)] == [
        True,
        True,
    ]
    assert found is begin.made[order.index(0)][1]
    assert [i for i, _, _ in steps.seen] == [1, 2, 3, 4]
    assert {n for _, n, _ in steps.seen} == {4}


def test_a_judge_may_prefer_the_other_one(fox, stage, videos):
    begin, seen = Begin(fox), []

    def judge(shown):
        seen.append(shown.shape)
        return torch.tensor([0.0, 1000.0])

    (found,) = fit_finalists(stage, videos, begin, default(), settings(), score=judge)
    assert found is begin.made[1][1]
    assert seen == [videos.shape]


@pytest.mark.parametrize("finalists", [2, 5])
def test_finalists_come_best_first_and_are_all_fitted_on(fox, stage, videos, finalists):
    begin, steps = Begin(fox), Steps()
    found = fit_finalists(
        stage, videos.flip(0), begin, default(), settings(finalists=finalists), observer=steps
    )
    assert [f is u for f, (_, u) in zip(found, reversed(begin.made), strict=True)] == [True, True]
    # Two iterations of both trials, and two of both fits.
    assert [seen[:2] for seen in steps.seen] == [(i + 1, 4) for i in range(4)]


def test_the_sides_of_a_symmetrical_gait_are_found_together(fox, stage):
    true = swinging(fox, [0.3, 0.3 + math.pi, 1.9, 1.9 + math.pi])
    target = shown(stage, true)
    found = standing(fox, period=PERIOD, symmetrical=True)
    search_phases(stage, found, target)
    waves = found.angles.detach()[1:3, uppers(fox), 0]
    mirror = found.mirror
    assert mirror is not None
    for control in uppers(fox):
        other = int(mirror.partners[control])
        torch.testing.assert_close(
            found.angles.detach()[1:3, control, 0], -found.angles.detach()[1:3, other, 0]
        )
    for wave, phase in zip(waves.T, [0.3, 0.3 + math.pi, 1.9, 1.9 + math.pi], strict=True):
        off = (math.atan2(-float(wave[1]), float(wave[0])) - phase + math.pi) % (2.0 * math.pi)
        assert abs(off - math.pi) < STEP


def test_without_trials_the_judge_chooses_before(fox, stage, videos):
    begin = Begin(fox)
    (found,) = fit_finalists(
        stage,
        videos,
        begin,
        default(),
        settings(trial=0),
        score=lambda shown: torch.tensor([0.2, 0.7]),
    )
    ((video, curves),) = begin.made
    assert torch.equal(video, videos[1])
    assert found is curves


def test_a_fit_brings_the_character_nearer_to_the_video(fox, stage, videos):
    curves = swinging(fox, [0.8, 3.0, 1.4, 5.5])
    differences = []
    (last,) = fit_to_videos(
        stage, [curves], videos[:1], default(), settings(), iterations=24,
        step=lambda values: differences.append(values["difference"]),
    )  # fmt: skip
    assert last == differences[-1]
    assert last < 0.7 * differences[0]
