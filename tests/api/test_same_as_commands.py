"""What a command does, the API does, with the same defaults."""

import inspect
from dataclasses import MISSING, fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import akd
from akd.asset.asset import AssetError
from akd.commands.animate import Animate
from akd.commands.convert import Convert
from akd.commands.create import Create
from akd.commands.export import Export
from akd.commands.fit import Fit
from akd.commands.ground import Ground
from akd.commands.prior_sample import PriorSample
from akd.commands.retarget import Retarget
from akd.commands.rig import Rig
from akd.commands.skin import Skin
from akd.commands.zoo import Zoo
from akd.export.creature import write_creature
from akd.fit.settings import FitSettings
from akd.physics.settings import TrackingSettings
from akd.presets import TRACKING
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip

PAIRS = {
    Animate: "akd.pipeline:animate",
    Convert: "akd.api.converting:convert",
    Create: "akd.api.creating:create",
    Export: "akd.api.exporting:export",
    Fit: "akd.api.fitting:fit",
    Ground: "akd.api.grounding:ground",
    PriorSample: "akd.api.sampling:sample",
    Retarget: "akd.api.retargeting:retarget",
    Rig: "akd.api.rigging:rig",
    Skin: "akd.api.skinning:skin",
    Zoo: "akd.api.creatures:zoo",
}
OTHER_FORM = {"generator", "joints", "out", "prompt", "size", "views"}
"""Options that the command reads from text or a file, or that stand elsewhere in the API."""


@pytest.mark.parametrize("command", PAIRS, ids=lambda command: command.__name__)
def test_defaults_are_those_of_the_command(command):
    module, name = PAIRS[command].split(":")
    function = getattr(__import__(module, fromlist=[name]), name)
    arguments = inspect.signature(function).parameters
    compared = 0
    for option in fields(command):
        given = arguments.get(option.name)
        if given is None or option.name in OTHER_FORM or option.default is MISSING:
            continue
        assert option.default == given.default, option.name
        compared += 1
    assert compared


def test_settings_behind_options_have_the_same_defaults():
    assert Animate.physics_iterations == TRACKING.iterations
    assert Fit.physics_iterations == Ground.iterations == TrackingSettings().iterations
    assert Fit.iterations == FitSettings().iterations


def test_fit_regularises_by_the_pose_model_unless_told_otherwise(monkeypatch):
    asked = []
    monkeypatch.setattr("akd.api.fitting.pose_prior", asked.append)
    with pytest.raises(ValueError, match="character must be given"):
        akd.fit(None, "walking.mp4")
    with pytest.raises(ValueError, match="character must be given"):
        akd.fit(None, "walking.mp4", losses=[])
    assert asked == [Fit.pose_prior]


@pytest.fixture(scope="module")
def fox():
    return akd.zoo("fox", vertices=600, clips=("walk", "stand"))


@pytest.mark.slow
def test_a_creature_is_the_one_that_its_file_holds(fox, tmp_path):
    creature = build_creature("fox", vertices=600)
    path = tmp_path / "fox.glb"
    write_creature(creature, [make_clip(creature, a) for a in ("walk", "stand")], path)
    read = akd.load(path)
    assert fox.mesh is not None
    assert read.mesh is not None
    torch.testing.assert_close(fox.mesh.vertices, read.mesh.vertices, rtol=0, atol=0)
    assert fox.control_rig.roles == read.control_rig.roles
    assert [c.name for c in fox.asset.clips] == [c.name for c in read.asset.clips]
    with pytest.raises(ValueError, match="there is no 'unicorn' in the zoo"):
        akd.zoo("unicorn")
    with pytest.raises(ValueError, match="has no clip 'fly'"):
        akd.zoo("fox", vertices=600, clips=("fly",))


@pytest.mark.slow
def test_a_character_without_a_file_has_a_job_of_its_own(fox, tmp_path, monkeypatch):
    from akd.api.request import make_request

    monkeypatch.chdir(tmp_path)
    jobs = [
        make_request(body, "a fox walking").job()["asset"]
        for body in (fox, fox, akd.zoo("fox", seed=1, vertices=600))
    ]
    assert jobs[0] == jobs[1] != jobs[2]


def test_clips_are_exported_by_name(fox, tmp_path):
    (path,) = akd.export(fox, ["bvh"], tmp_path, clip="walk")
    assert path == tmp_path / "fox-walk.bvh"
    assert akd.load(path).asset.clips[0].end > 0.5
    with pytest.raises(ValueError, match="formats takes formats out of bvh"):
        akd.export(fox, ["mov"], tmp_path)


def test_a_long_clip_name_makes_a_file_name_that_systems_take(fox, tmp_path):
    asset = fox.asset
    path = Path("\u9aa8" * 80 + ".glb")  # 240 bytes
    clips = [replace(asset.clips[0], name="\u9aa8" * 90 + end) for end in "ab"]
    named = replace(fox, asset=replace(asset, path=path, clips=tuple(clips)))
    first, second = akd.export(named, ["bvh"], tmp_path)
    assert first.exists()
    assert second.name == f"{first.stem}-2.bvh"


@pytest.mark.slow
def test_a_file_is_evaluated_as_the_command_does(fox, tmp_path):
    creature = build_creature("fox", vertices=600)
    path = tmp_path / "fox.glb"
    write_creature(creature, [make_clip(creature, "walk", frames=8)], path)
    made = akd.evaluate(path)
    assert list(made.metrics) == ["fox.glb:walk"]
    assert made.table().splitlines()[0].split()[:2] == ["score", "travel"]
    videos = made.save(tmp_path / "eval")
    assert videos["fox.glb:walk"].stat().st_size
    assert (tmp_path / "eval" / "index.html").stat().st_size


@pytest.mark.slow
def test_weights_are_solved_anew(fox, tmp_path):
    made = akd.skin(fox, influences=2)
    weights = made.result.skin.weights
    assert int((weights > 0).sum(1).max()) <= 2
    np.testing.assert_allclose(weights.sum(1).numpy(), 1.0, atol=1e-5)
    assert made.save(tmp_path / "smooth.glb") == []
    assert akd.load(tmp_path / "smooth.glb").control_rig.roles == fox.control_rig.roles
    with pytest.raises(ValueError, match="heat must be above zero"):
        akd.skin(fox, heat=0.0)
    (tmp_path / "bare.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(AssetError, match="has no skeleton to bind to"):
        akd.skin(tmp_path / "bare.obj")


@pytest.mark.slow
def test_a_prior_is_sampled_with_a_character(tmp_path):
    from tests.commands.small_prior import write_weights

    weights = write_weights(tmp_path)
    tiny = akd.prior(weights=weights, device="cpu")
    alone = akd.sample("a fox walking", prior=tiny, steps=2)
    shown = akd.sample("a fox walking", prior=tiny, steps=2, reference=akd.zoo("fox", vertices=600))
    assert alone.video.frames.shape == shown.video.frames.shape
    assert float((alone.video.frames - shown.video.frames).abs().max()) > 0.01
    with pytest.raises(ValueError, match="reference must be a rigged character"):
        akd.sample("a fox walking", prior=tiny, reference=Path("fox.png"))
