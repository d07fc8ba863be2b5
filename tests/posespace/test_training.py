"""Pose sets on disk, training, sampling, inversion and scores, with a very small network."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from akd.base.files import DamagedFile, read_tensors, write_tensors
from akd.posespace.body import kinematics
from akd.posespace.collect import distinct
from akd.posespace.dataset import join_poses, load_poses, merge_poses, save_poses
from akd.posespace.diffusion import (
    denoise,
    inversion_levels,
    invert,
    levels,
    sample,
    signal_and_noise,
    walk,
)
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import (
    random_angles,
    swap_one_limb,
    twist_one_joint,
)
from akd.posespace.score import score
from akd.posespace.settings import ANGLE_UNIT, PoseTrainSettings
from akd.posespace.train import PoseSampler, PoseTrainer, draw_levels, train
from benchmarks.posespace_measures import area_under_curve
from tests.posespace.conftest import SMALL

QUICK = PoseTrainSettings(batch=16, poses_each=4, warm_up=2)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    network = PoseNetwork(SMALL)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.03 * torch.randn_like(parameter))
    return network.eval().requires_grad_(False)


def test_a_set_returns_from_its_file(poses, tmp_path):
    save_poses(poses, tmp_path / "poses.safetensors")
    again = load_poses(tmp_path / "poses.safetensors")
    assert again.records == poses.records
    assert again.clips == poses.clips
    torch.testing.assert_close(again.states, poses.states, atol=4e-3, rtol=0)
    torch.testing.assert_close(again.bodies.pivots, poses.bodies.pivots)
    assert torch.equal(again.bodies.relation, poses.bodies.relation)
    assert torch.equal(again.clip_of, poses.clip_of)


def test_a_file_of_another_format_is_refused(tmp_path):
    from akd.base.files import write_tensors

    path = tmp_path / "other.safetensors"
    write_tensors(path, {"a": torch.zeros(1)}, about={"format": "other"})
    with pytest.raises(ValueError, match="must be of format akd-poses-1, got other"):
        load_poses(path)
    with pytest.raises(ValueError, match="must be of format akd-pose-model-1, got other"):
        load_model(path)
    with pytest.raises(ValueError, match="at least one pose"):
        join_poses([])


def test_near_poses_are_left_out():
    states = torch.zeros(4, 3, 3)
    states[1] += 0.01
    states[2, 1, 0] = 1.0
    states[3, 1, 0] = 1.05
    assert distinct(states).tolist() == [True, False, True, False]


def test_training_is_deterministic(poses, tmp_path):
    file = tmp_path / "poses.safetensors"
    save_poses(poses, file)

    def run(name):
        return train(
            [file], tmp_path / name, steps=3, seed=5, network=SMALL, settings=QUICK,
            say=lambda text: None,
        )  # fmt: skip

    for one, other in zip(run("a").parameters(), run("b").parameters(), strict=True):
        assert torch.equal(one, other)
    assert (tmp_path / "a" / "training.json").is_file()
    assert load_model(tmp_path / "a" / "pose.safetensors").settings == SMALL
    with pytest.raises(ValueError, match="minutes or steps must be given"):
        train([file], tmp_path / "c")


def test_a_resumed_training_is_the_same(poses, tmp_path):
    sampler = PoseSampler(poses, device=torch.device("cpu"))

    def trainer():
        return PoseTrainer(SMALL, QUICK, device=torch.device("cpu"), seed=2)

    whole, first, second = trainer(), trainer(), trainer()
    for _ in range(4):
        whole.step(sampler, part=0.0)
    for _ in range(2):
        first.step(sampler, part=0.0)
    first.save(tmp_path / "state.safetensors")
    second.restore(tmp_path / "state.safetensors")
    for _ in range(2):
        second.step(sampler, part=0.0)
    assert second.progress.step == 4
    for one, other in zip(whole.average.parameters(), second.average.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_training_reduces_the_error(poses, tmp_path):
    file = tmp_path / "poses.safetensors"
    save_poses(poses, file)
    lines = []
    settings = replace(QUICK, learning_rate=5e-3, ema=0.9)
    trained = train(
        [file], tmp_path / "out", steps=120, network=SMALL, settings=settings, say=lines.append
    )
    body = poses.bodies[poses.body_of[:32]]
    states = poses.states[:32]
    noise = torch.randn(states.shape, generator=torch.Generator().manual_seed(1))
    alpha, sigma = signal_and_noise(torch.tensor(0.7))
    noisy = alpha * states + sigma * noise
    torch.manual_seed(0)
    fresh = PoseNetwork(SMALL).eval()
    with torch.no_grad():
        errors = [
            float((denoise(n, n.describe(body), noisy, 0.7) - states).square().mean())
            for n in (fresh, trained)
        ]
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.slow
def test_training_needs_no_heavy_library():
    code = (
        "import sys, akd.posespace.train; "
        "print([m for m in ('warp', 'scipy', 'trimesh', 'tyro', 'akd.rig') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_levels_of_tokens():
    draw = torch.Generator().manual_seed(0)
    t = draw_levels(4000, 7, 0.6, draw, torch.device("cpu"))
    same = (t == t[:, :1]).all(-1)
    known = (t == 0.0).any(-1)
    assert float(same.float().mean()) == pytest.approx(0.6, abs=0.06)
    assert 0.1 < float(known.float().mean()) < 0.25
    assert float(t.max()) < 1.0


def test_sampler_draws_bodies_with_their_poses(poses):
    sampler = PoseSampler(poses, device=torch.device("cpu"))
    body, states = sampler.draw(3, 5, torch.Generator().manual_seed(0))
    assert body.present.shape[0] == 3
    assert states.shape == (15, poses.bodies.tokens, 3)
    matches = (states[:, None] == poses.states[None]).all((-1, -2)).any(-1)
    assert bool(matches.any())
    assert not bool(matches.all())  # the others are mirrored


def test_artists_rigs_are_drawn_as_often_as_asked(poses):
    zoo = poses.records[0]
    rig = replace(zoo, name="rig", source="assets")
    two = merge_poses([poses, replace(poses, records=(rig,))])
    weights = PoseSampler(two, device=torch.device("cpu"), artists=3.0).weights
    assert float(weights[1] / weights[0]) == pytest.approx(3.0)


def test_padding_does_not_change_a_prediction(codec, network):
    from akd.posespace.body import stack_bodies

    states = torch.randn(1, codec.body.tokens, 3, generator=torch.Generator().manual_seed(2))
    small = denoise(network, network.describe(codec.body.expand(1)), states, 0.5)
    batch = stack_bodies([codec.body], tokens=codec.body.tokens + 4)
    padded = torch.cat((states, torch.zeros(1, 4, 3)), dim=1)
    large = denoise(network, network.describe(batch), padded, 0.5)
    torch.testing.assert_close(large[:, : codec.body.tokens], small, atol=1e-5, rtol=0)


def test_inversion_and_sampling_are_inverse(codec, network):
    body = codec.body.expand(2)
    state = 0.5 * torch.randn(2, codec.body.tokens, 3, generator=torch.Generator().manual_seed(4))
    noise = invert(network, body, state, steps=12)
    back = walk(network, network.describe(body), noise, inversion_levels(12))
    far = kinematics(body, back)[0] - kinematics(body, state)[0]
    assert float(far.norm(dim=-1).max()) < 0.003


def test_the_neutral_pose_is_inverted_too(codec):
    """With the bundled model, whose clean estimates are often near the neutral pose."""
    network, body = load_model(), codec.body.expand(2)
    draw = torch.Generator().manual_seed(4)
    state = torch.stack(
        (torch.zeros(codec.body.tokens, 3), torch.randn(codec.body.tokens, 3, generator=draw))
    )
    noise = invert(network, body, state)
    back = walk(network, network.describe(body), noise, inversion_levels(24))
    far = kinematics(body, back)[0] - kinematics(body, state)[0]
    assert float(far.norm(dim=-1).max()) < 0.0002
    alone = invert(network, body[:1], state[:1])
    torch.testing.assert_close(alone, noise[:1], atol=1e-4, rtol=0)


def test_known_tokens_stay(codec, network):
    body = codec.body.expand(1)
    known = torch.zeros(1, codec.body.tokens, dtype=torch.bool)
    known[:, :5] = True
    state = torch.full((1, codec.body.tokens, 3), 0.3)
    noise = torch.randn(state.shape, generator=torch.Generator().manual_seed(0))
    found = walk(network, network.describe(body), noise, levels(4), known=(known, state))
    assert torch.equal(found[known], state[known])
    assert not torch.equal(found[~known], state[~known])


def test_samples_follow_from_the_seed(codec, network):
    body = codec.body.expand(2)

    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        return sample(network, body, steps=3, generator=generator)

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        levels(0)


def test_scores_have_a_value_for_each_joint(poses, network):
    body, states = poses.bodies[poses.body_of[:4]], poses.states[:4]
    found = score(network, body, states)
    assert found.joints.shape == states.shape[:2]
    assert bool(found.joints.isfinite().all())
    assert torch.equal(found.poses, score(network, body, states).poses)


def test_spoilt_poses(poses):
    from akd.math import quaternion

    body, states = poses.bodies[poses.body_of[:8]], poses.states[:8]
    draw = torch.Generator().manual_seed(0)
    twisted = twist_one_joint(body, states, draw)
    changed = (twisted != states).any(-1)
    assert changed.sum(-1).tolist() == [1] * 8
    a, b = (quaternion.from_rotation_vector(s[changed] * ANGLE_UNIT) for s in (states, twisted))
    torch.testing.assert_close(
        quaternion.geodesic(a, b), torch.full((8,), torch.pi / 3), atol=1e-3, rtol=0
    )
    swapped = swap_one_limb(body, states, draw)
    assert bool((swapped != states).any((-1, -2)).all())
    torch.testing.assert_close(swapped.sum(1), states.sum(1))
    loose = random_angles(body, states, draw)
    torch.testing.assert_close(loose.norm(dim=-1)[:, 1:], states.norm(dim=-1)[:, 1:])


def test_area_under_curve():
    assert area_under_curve(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0])) == 1.0
    assert area_under_curve(torch.tensor([2.0, 3.0]), torch.tensor([0.0, 1.0])) == 0.0
    assert area_under_curve(torch.ones(3), torch.ones(5)) == 0.5


def test_broken_files_are_one_line(poses, tmp_path):
    file = tmp_path / "poses.safetensors"
    save_poses(poses, file)
    data = file.read_bytes()
    for broken in (b"", data[:-1], data[:-1] + bytes([data[-1] ^ 1]), b"\xff" * 100):
        file.write_bytes(broken)
        with pytest.raises(DamagedFile, match=r"poses\.safetensors: is damaged"):
            load_poses(file)
    write_tensors(file, {"states": torch.zeros(2)}, about={"format": "akd-poses-1"})
    with pytest.raises(DamagedFile, match="holds values that cannot be used"):
        load_poses(file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bodies": [{"name": []}]}, "cannot be used"),
        ({"bodies": [{"tokens": 0}]}, "cannot be used"),
        ({"clips": [[99, "walk"]]}, "clips must be of a body"),
        ({"clips": [["x", "walk"]]}, "cannot be used"),
        ({"clip_of": 99}, "clip_of must be whole numbers"),
        ({"body_of": -1}, "body_of must be whole numbers"),
        ({"times": math.nan}, "times must be finite"),
        ({"states": math.inf}, "states must be finite"),
        ({"body.ends": math.nan}, "ends must be finite"),
        ({"body.mirror": 127}, "mirror must be whole numbers from -1"),
        ({"body.roles": 255}, "roles must be whole numbers from 0 to 15"),
        ({"body.relation": 255}, "relation must be whole numbers"),
        ({"body.names": None}, "names must be"),
        ({"body.present": None}, "cannot be used"),
    ],
)
def test_values_that_training_cannot_use_are_one_line(poses, tmp_path, change, said):
    file = tmp_path / "poses.safetensors"
    save_poses(poses, file)
    tensors, about = read_tensors(file)
    for name, value in change.items():
        if name == "bodies":
            given = json.loads(about[name])
            about[name] = json.dumps([{**given[0], **value[0]}, *given[1:]])
        elif name == "clips":
            about[name] = json.dumps(value)
        elif value is None:
            tensors[name] = tensors[name][..., :0].clone()
        else:
            tensors[name] = torch.full_like(tensors[name], value)
    write_tensors(file, tensors, about=about)
    with pytest.raises(DamagedFile, match=said):
        load_poses(file)


def test_a_pipe_among_files_of_poses_is_one_line(poses, tmp_path):
    save_poses(poses, tmp_path / "a.safetensors")
    os.mkfifo(tmp_path / "b.safetensors")
    with pytest.raises(DamagedFile, match="must be a regular file"):
        load_poses(tmp_path)
