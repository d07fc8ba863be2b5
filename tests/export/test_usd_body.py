"""The USD of a body, read back by the library and by Newton."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from akd.export.usd_body import write_usd_body
from akd.math import quaternion
from akd.physics.parameters import scale_parameters
from tests.export.usd_checker import usd_errors
from tests.physics.bodies_for_tests import quadruped, random_tree

pytest.importorskip("pxr")


def test_masses_joints_and_corners_come_back(tmp_path: Path) -> None:
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    body = random_tree(2)
    path = tmp_path / "body.usda"
    parameters = scale_parameters(body)
    write_usd_body(body, parameters, path)
    assert usd_errors(path) == []
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    prims = list(stage.Traverse())
    masses = [
        UsdPhysics.MassAPI(p).GetMassAttr().Get() for p in prims if p.HasAPI(UsdPhysics.MassAPI)
    ]
    assert sum(masses) == pytest.approx(body.mass, rel=1e-6)
    joints = [UsdPhysics.Joint(p) for p in prims if p.IsA(UsdPhysics.Joint)]
    assert len(joints) == len(body) - 1
    drive = UsdPhysics.DriveAPI.Get(joints[0].GetPrim(), "rotY")
    assert drive.GetStiffnessAttr().Get() == pytest.approx(parameters.stiffness * 0.0174532925)
    # The cuboids are where the body has them.
    cubes = [p for p in prims if p.IsA(UsdGeom.Cube)]
    for i, cube in enumerate(cubes):
        matrix = UsdGeom.Xformable(cube).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        corner = matrix.Transform(Gf.Vec3d(1.0, -1.0, 1.0))
        torch.testing.assert_close(
            torch.tensor(list(corner), dtype=torch.float64), body.corners[i, 5],
            rtol=0, atol=1e-6,
        )  # fmt: skip
    # Inertia: principal moments about principal axes give the tensor back.
    api = UsdPhysics.MassAPI(next(p for p in prims if p.HasAPI(UsdPhysics.MassAPI)))
    turn = api.GetPrincipalAxesAttr().Get()
    q = torch.tensor([turn.GetReal(), *turn.GetImaginary()], dtype=torch.float64)
    rotation = quaternion.to_matrix(q)
    moments = torch.tensor(list(api.GetDiagonalInertiaAttr().Get()), dtype=torch.float64)
    torch.testing.assert_close(
        rotation @ torch.diag(moments) @ rotation.T, body.inertias[0], rtol=1e-4, atol=1e-6
    )


@pytest.mark.slow
def test_newton_reads_it(tmp_path: Path) -> None:
    newton = pytest.importorskip("newton")
    pytest.importorskip("newton_usd_schemas")
    body = quadruped()
    path = tmp_path / "body.usda"
    write_usd_body(body, scale_parameters(body), path)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
    builder.add_usd(str(path))
    assert builder.body_count == len(body)
    assert sum(builder.body_mass) == pytest.approx(body.mass, rel=1e-4)
