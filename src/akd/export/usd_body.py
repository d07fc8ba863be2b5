"""USD of a simulated body: rigid cuboids and drives by the UsdPhysics schema. Needs `usd-core`.

A joint is a generic one with its three rotations free and driven. USD's rotations are about
perpendicular axes: where the third axis of a joint is tilted, as an arm's is, the file has the one
perpendicular to the first two, and drives pull to zero, where both mean the same.
"""

# pyright: reportAttributeAccessIssue=false
# usd-core comes without types for what is compiled.

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_text
from akd.export.usd_names import unique_identifiers
from akd.math import quaternion
from akd.physics.body import Body
from akd.physics.parameters import Parameters


def write_usd_body(body: Body, parameters: Parameters, path: str | Path) -> None:
    """Write a body in the neutral pose and the ground below it, Y up, metres and kilograms."""
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    scene = UsdPhysics.Scene.Define(stage, "/scene")
    gravity = torch.tensor(parameters.gravity, dtype=torch.float64)
    size = float(gravity.norm())
    scene.CreateGravityDirectionAttr(Gf.Vec3f(*(gravity / max(size, 1e-12)).tolist()))
    scene.CreateGravityMagnitudeAttr(size)
    _add_ground(stage)
    top = UsdGeom.Xform.Define(stage, "/body")
    stage.SetDefaultPrim(top.GetPrim())
    UsdPhysics.ArticulationRootAPI.Apply(top.GetPrim())
    labels = unique_identifiers(body.names)
    parts = [_add_part(stage, top, body, i, labels[i]) for i in range(len(body))]
    for i, parent in enumerate(body.parents):
        if parent >= 0:
            _add_joint(stage, top, body, parameters, i, labels[i], parts)
    write_text(Path(path), stage.GetRootLayer().ExportToString())


def _add_ground(stage: Any) -> None:
    from pxr import UsdGeom, UsdPhysics

    ground = UsdGeom.Plane.Define(stage, "/ground")
    ground.CreateAxisAttr(UsdGeom.Tokens.y)
    UsdPhysics.CollisionAPI.Apply(ground.GetPrim())


def _add_part(stage: Any, top: Any, body: Body, i: int, label: str) -> Any:
    """A rigid body whose origin is the part's pivot, with its cuboid in it."""
    from pxr import Gf, UsdGeom, UsdPhysics

    part = UsdGeom.Xform.Define(stage, f"{top.GetPath()}/{label}")
    part.AddTranslateOp().Set(Gf.Vec3d(*body.pivots[i].tolist()))
    UsdPhysics.RigidBodyAPI.Apply(part.GetPrim())
    principal, turn = _principal(body.inertias[i])
    mass = UsdPhysics.MassAPI.Apply(part.GetPrim())
    mass.CreateMassAttr(float(body.masses[i]))
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*(body.centres[i] - body.pivots[i]).tolist()))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*principal.tolist()))
    mass.CreatePrincipalAxesAttr(_quat(turn))
    cube = UsdGeom.Cube.Define(stage, f"{part.GetPath()}/cuboid")
    cube.CreateSizeAttr(2.0)
    cube.AddTranslateOp().Set(Gf.Vec3d(*(body.centres[i] - body.pivots[i]).tolist()))
    cube.AddOrientOp().Set(_quat(body.orientations[i]))
    cube.AddScaleOp().Set(Gf.Vec3f(*body.half_extents[i].tolist()))
    UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
    return part


def _add_joint(
    stage: Any, top: Any, body: Body, p: Parameters, i: int, label: str, parts: list[Any]
) -> None:
    """A joint with locked translations and three driven rotations."""
    from pxr import Gf, UsdPhysics

    parent = body.parents[i]
    joint = UsdPhysics.Joint.Define(stage, f"{top.GetPath()}/{label}_joint")
    joint.CreateBody0Rel().SetTargets([parts[parent].GetPath()])
    joint.CreateBody1Rel().SetTargets([parts[i].GetPath()])
    u1, u2, _ = body.axes[i]
    frame = quaternion.from_matrix(torch.stack((u1, u2, torch.linalg.cross(u1, u2)), dim=1))
    joint.CreateLocalPos0Attr(Gf.Vec3f(*(body.pivots[i] - body.pivots[parent]).tolist()))
    joint.CreateLocalPos1Attr(Gf.Vec3f(0.0, 0.0, 0.0))
    joint.CreateLocalRot0Attr(_quat(frame))
    joint.CreateLocalRot1Attr(_quat(frame))
    for axis in ("transX", "transY", "transZ"):
        # A lower limit above the upper one is the schema's way to lock a degree of freedom.
        limit = UsdPhysics.LimitAPI.Apply(joint.GetPrim(), axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    for axis in ("rotX", "rotY", "rotZ"):
        drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), axis)
        drive.CreateTypeAttr("force")
        # Angles of the schema are in degrees.
        drive.CreateStiffnessAttr(p.stiffness * math.pi / 180.0)
        drive.CreateDampingAttr(p.damping * math.pi / 180.0)
        drive.CreateTargetPositionAttr(0.0)


def _principal(
    inertia: Float[Tensor, "3 3"],
) -> tuple[Float[Tensor, "3"], Float[Tensor, "4"]]:
    """Principal moments and the rotation (wxyz) whose columns are their axes."""
    values, vectors = torch.linalg.eigh(inertia)
    vectors = vectors * torch.linalg.det(vectors)
    return values, quaternion.from_matrix(vectors)


def _quat(q: Float[Tensor, "4"]) -> Any:
    from pxr import Gf

    w, x, y, z = q.tolist()
    return Gf.Quatf(w, x, y, z)
