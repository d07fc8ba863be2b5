"""Keyframes given to priors: the tiny one passes through them, large ones start from them."""

from dataclasses import replace

import pytest
import torch

from akd.posespace import keyframes
from akd.posespace.keyframes import Keyframes, keyframe_videos, render_keyframes
from akd.prior.tiny.load import load_tiny
from tests.commands.small_prior import write_weights
from tests.prior.large.tiny_pipelines import SIZES, build, load_prior


@pytest.fixture(scope="module")
def states(codec):
    states = torch.zeros(3, codec.body.tokens, 3)
    states[1:, 1:5] = torch.tensor((0.5, 1.0))[:, None, None]
    return states


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cogvideox-5b-i2v", "wan2.2-5b"])
def test_a_large_prior_starts_from_each_keyframe(fox, codec, states, tmp_path, monkeypatch, name):
    build(name, tmp_path).save_pretrained(tmp_path / "pipeline")
    frames, height, width = SIZES[name]
    prior = load_prior(
        tmp_path / "pipeline", frames=frames, height=height, width=width, cache=tmp_path / "cache"
    )
    found = render_keyframes(fox, codec, states[:2], size=(width, height), style=prior.style)
    seen, encode = [], prior.family.encode_image

    def note(pixels):
        seen.append(pixels)
        return encode(pixels)

    monkeypatch.setattr(prior.family, "encode_image", note)
    videos = list(keyframe_videos(prior, "a fox walking", found, steps=2))
    assert [tuple(video.frames.shape[1:3]) for video in videos] == [(height, width)] * 2
    for pixels, image in zip(seen, found.mesh, strict=True):
        torch.testing.assert_close(pixels[0, :, 0], 2.0 * image.movedim(-1, 0) - 1.0)


def test_the_tiny_prior_passes_through_all_keyframes(fox, codec, states, tmp_path, monkeypatch):
    prior = load_tiny(write_weights(tmp_path))
    asked, predict = [], prior.predict

    def note(latents, t, conditions):
        asked.extend(conditions)
        return predict(latents, t, conditions)

    monkeypatch.setattr(prior, "predict", note)
    size = (prior.width, prior.height)
    frames = render_keyframes(fox, codec, states[:2], size=size, style=prior.style)
    images = frames.mesh
    (video,) = keyframe_videos(prior, "a fox walking", frames, steps=2)
    assert len(video) == prior.frames
    torch.testing.assert_close(video.frames[[0, -1]], images.clamp(0, 1), atol=1e-4, rtol=0)
    told = [condition.known for condition in asked]
    assert all(known and known.mask.tolist() == [True, False, False, True] for known in told)
    assert all(torch.equal(condition.reference_image, frames.neutral) for condition in asked)


def test_a_prior_of_words_alone_is_refused(tmp_path, monkeypatch):
    prior = load_tiny(write_weights(tmp_path))
    monkeypatch.setattr(prior, "takes_reference_image", False)
    blank = torch.zeros(16, 16, 3)
    with pytest.raises(ValueError, match="tiny takes no image, only text"):
        next(keyframe_videos(prior, "a fox walking", Keyframes(blank[None], blank[None], blank)))


def test_one_camera_sees_all_keyframes(fox, codec, states):
    found = render_keyframes(fox, codec, states, size=(96, 64))
    assert found.mesh.shape == found.skeleton.shape == (3, 64, 96, 3)
    ground = found.mesh[:, -1].mean((1, 2))
    assert float(ground.max() - ground.min()) < 0.05
    for images in (found.mesh, found.skeleton):
        assert float((images[0] - images[2]).abs().max()) > 0.1


def test_the_ground_is_that_of_the_body_not_of_a_weapon_below_it(fox, codec, states, monkeypatch):
    lifts, draw = [], keyframes._draw_skeletons

    def note(codec, states, camera, lift):
        lifts.append(lift)
        return draw(codec, states, camera, lift)

    monkeypatch.setattr(keyframes, "_draw_skeletons", note)
    assert fox.mesh is not None
    low = replace(fox.mesh, vertices=fox.mesh.vertices - torch.tensor([0.0, 0.2, 0.0]))
    for character in (fox, replace(fox, mesh=low)):
        render_keyframes(character, codec, states[:1], size=(32, 32))
    assert lifts[0] == lifts[1]
