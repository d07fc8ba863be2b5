"""Units: found where they can be, overridden where they are wrong, undone exactly."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from akd.math import quaternion, transform
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.units import FileUnits, find_units


@pytest.mark.parametrize(
    ("height", "file_format", "metres"),
    [
        (1.8, "glb", 1.0),
        (79.0, "glb", 0.01),
        (1800.0, "gltf", 0.001),
        (14.7, "glb", 1.0),
        (30.0, "bvh", 0.0254 / 0.45),
        (17.0, "bvh", 0.1),
        (170.0, "bvh", 0.01),
        (1.7, "bvh", 1.0),
        (22.27, "bvh", 0.0254 / 0.45),  # 82_01 of CMU, near decimetres
        (41.62, "bvh", 1.5 / 41.62),  # AnimatedDrawings: 1.06 m in inches, 2.35 m in CMU's unit
        (180.0, "obj", 0.01),
        (1.8, "obj", 1.0),
        (0.0, "glb", 1.0),
    ],
)
def test_metres_per_unit(height, file_format, metres):
    assert find_units(height, file_format=file_format).metres_per_unit == pytest.approx(metres)


def test_a_wanted_height_decides():
    units = find_units(79.0, file_format="glb", wanted_height=0.4)
    assert units.metres_per_unit == pytest.approx(0.4 / 79)
    assert units.is_given
    with pytest.raises(ValueError, match="height must be above zero and finite, got -1"):
        find_units(79.0, file_format="glb", wanted_height=-1.0)


def test_an_unknown_axis_is_refused():
    with pytest.raises(ValueError, match="up must be one of x, y, z, got 'w'"):
        FileUnits(1.0, "w")


@given(st.integers(0, 2**32 - 1), st.sampled_from("xyz"), st.floats(1e-3, 1e3))
def test_conversion_commutes_with_forward_kinematics_and_undoes_itself(seed, up, metres):
    g = torch.Generator().manual_seed(seed)
    scale = 0.5 + torch.rand(3, 3, generator=g, dtype=torch.float64)
    pose = Pose(
        torch.randn(3, 3, generator=g, dtype=torch.float64),
        quaternion.normalize(torch.randn(3, 4, generator=g, dtype=torch.float64)),
        scale,
    )
    units = FileUnits(metres, up)
    skeleton = Skeleton(("a", "b", "c"), (-1, 0, 1), pose)
    x = torch.randn(3, generator=g, dtype=torch.float64)
    in_file = transform.apply(skeleton.forward(pose)[2], x)
    in_metres = transform.apply(skeleton.forward(units.pose_in(pose))[2], units.points_in(x))
    torch.testing.assert_close(in_metres, units.points_in(in_file), rtol=1e-6, atol=1e-9 * metres)
    back = units.pose_out(units.pose_in(pose))
    torch.testing.assert_close(back.matrices(), pose.matrices(), rtol=1e-9, atol=1e-9)
    matrices = units.matrices_in(pose.matrices())
    torch.testing.assert_close(matrices, units.pose_in(pose).matrices(), rtol=1e-6, atol=1e-9)


def test_the_up_axis_becomes_y():
    for up, axis in (("x", 0), ("y", 1), ("z", 2)):
        unit = torch.zeros(3)
        unit[axis] = 1.0
        expected = torch.tensor([0.0, 0.01, 0.0])
        torch.testing.assert_close(FileUnits(0.01, up).points_in(unit), expected)


@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_points_come_back_and_up_is_y(up):
    units = FileUnits(0.01, up)
    points = torch.tensor([[1.0, 2.0, 3.0], [100.0 * (up == a) for a in "xyz"]])
    inside = units.points_in(points)
    torch.testing.assert_close(inside[1], torch.tensor([0.0, 1.0, 0.0]))
    torch.testing.assert_close(units.points_out(inside), points)


@pytest.mark.parametrize("metres", [0.0, -1.0, float("nan"), float("inf")])
def test_units_without_a_length_are_refused(metres):
    with pytest.raises(ValueError, match="metres_per_unit must be above zero and finite"):
        FileUnits(metres)


def test_a_wanted_height_of_nothing_measures_nothing():
    units = find_units(0.0, file_format="glb", wanted_height=1.8)
    assert (units.metres_per_unit, units.found_by) == (1.0, "nothing to measure")
