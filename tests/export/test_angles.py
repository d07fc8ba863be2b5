"""Angles of the rotation channels: the same rotations, without jumps."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd.export.angles import euler_angles, make_continuous


def test_angles_do_not_jump() -> None:
    # Twice round about the outer axis, and through the pole of the middle one.
    turns = np.linspace(0, 720, 200)
    middle = np.linspace(0, 175, 200)
    rotations = Rotation.from_euler(
        "ZXY", np.stack((turns, middle, 0.3 * turns), 1), degrees=True
    ).as_matrix()
    angles = euler_angles(rotations[:, None], "ZXY")
    make_continuous(angles)
    angles = angles[:, 0]
    back = Rotation.from_euler("ZXY", angles, degrees=True).as_matrix()
    np.testing.assert_allclose(back, rotations, atol=1e-9)
    assert np.abs(np.diff(angles, axis=0)).max() < 10.0


def nearest_to_the_frame_before(angles: np.ndarray) -> np.ndarray:
    """Frame after frame, as the words say it."""
    angles = angles.copy()
    for frame in range(1, len(angles)):
        a, b, c = angles[frame].T
        both = np.stack((angles[frame], np.stack((a + 180.0, 180.0 - b, c + 180.0), axis=1)))
        both -= 360.0 * np.rint((both - angles[frame - 1]) / 360.0)
        nearest = np.abs(both - angles[frame - 1]).sum(axis=-1).argmin(axis=0)
        angles[frame] = both[nearest, np.arange(len(nearest))]
    return angles


@pytest.mark.parametrize("frames", [1, 2, 3, 1000])
@pytest.mark.parametrize("step", [2.0, 60.0, 400.0])
def test_each_frame_is_nearest_to_the_one_before(frames: int, step: float) -> None:
    """Steps from those of motion capture to leaps, through the pole and many turns."""
    walk = np.random.default_rng(0).normal(size=(frames, 5, 3)).cumsum(axis=0) * step
    rotations = Rotation.from_euler("ZXY", walk.reshape(-1, 3), degrees=True).as_matrix()
    angles = euler_angles(rotations.reshape(frames, 5, 3, 3), "ZXY")
    wanted = nearest_to_the_frame_before(angles)
    make_continuous(angles)
    np.testing.assert_allclose(angles, wanted, rtol=0.0, atol=1e-7)
