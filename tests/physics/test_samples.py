"""Variations of a tracked motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from akd.physics.samples import SampleSettings, simulate_samples
from akd.physics.settings import TrackingSettings
from akd.physics.tracking import track
from tests.physics.bodies_for_tests import quadruped
from tests.physics.gaits import trot

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tracked():
    body = quadruped()
    return body, track(body, trot(12), settings=TrackingSettings(iterations=20))


def test_samples_vary_about_the_tracked_motion(tracked, tmp_path: Path) -> None:
    body, tracking = tracked
    generator = torch.Generator().manual_seed(0)
    samples = simulate_samples(body, tracking, 12, generator=generator, batch=5)
    assert samples.states.angles.shape == (12, 12, 12, 3)
    assert samples.contacts.shape == (12, 12, 13, 3)
    assert float(samples.states.position.std(0).max()) > 1e-3
    assert bool(torch.isfinite(samples.states.position).all())
    assert float(samples.upright.double().mean()) > 0.8
    # The ground pushes. A linearised force may pull for the one substep in which a corner leaves:
    # all such pulls together are less than a hundredth of the pushes.
    lift = samples.contacts[..., 1]
    assert float(lift.clamp(max=0.0).sum().abs()) < 0.01 * float(lift.clamp_min(0.0).sum())
    carried = samples.contacts[..., 1].sum(-1).mean(1)
    weight = 9.81 * (samples.variation.mass_scale * body.masses).sum(-1)
    assert float((carried / weight - 1).abs().mean()) < 0.5
    path = tmp_path / "samples.npz"
    samples.save(path)
    arrays = np.load(path)
    assert arrays["push"].shape == (12, 3)
    assert arrays["upright"].dtype == bool
    np.testing.assert_allclose(arrays["angles"], samples.states.angles.numpy(), atol=1e-6)


def test_no_variation_is_the_tracked_motion(tracked) -> None:
    body, tracking = tracked
    none = SampleSettings(
        friction=(tracking.parameters.friction,) * 2, mass=0.0, push=0.0, velocity=0.0
    )
    generator = torch.Generator().manual_seed(0)
    samples = simulate_samples(body, tracking, 2, generator=generator, settings=none)
    # The tracked run was in body units: the same but for rounding, which contact amplifies.
    torch.testing.assert_close(
        samples.states.position[0], tracking.states.position, rtol=0, atol=2e-3 * body.height
    )
    torch.testing.assert_close(samples.states.angles[0], samples.states.angles[1], rtol=0, atol=0)


def test_the_same_seed_gives_the_same_samples(tracked) -> None:
    body, tracking = tracked
    first, second = (
        simulate_samples(body, tracking, 3, generator=torch.Generator().manual_seed(7))
        for _ in range(2)
    )
    torch.testing.assert_close(first.states.angles, second.states.angles, rtol=0, atol=0)


def test_bad_settings_are_refused(tracked) -> None:
    body, tracking = tracked
    with pytest.raises(ValueError, match=r"mass must be in \[0, 1\), got 1"):
        SampleSettings(mass=1.0)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        simulate_samples(body, tracking, 0, generator=torch.Generator())
