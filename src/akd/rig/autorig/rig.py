"""`rig_mesh`: a skeleton and weights for a bare mesh, with a confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from akd.rig.autorig.choose import choose
from akd.rig.autorig.expectation import expect
from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.frame import find_frame
from akd.rig.autorig.landmarks import find_landmarks
from akd.rig.autorig.refine import refine
from akd.rig.autorig.solid import fill
from akd.rig.autorig.templates import TEMPLATES, Placed, mirrored
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.rig.skinning.heat import HeatSettings, solve_heat_weights
from akd.rig.skinning.segments import bone_segments
from akd.rig.skinning.surface_repair import weld

LOW_CONFIDENCE = 0.5
"""Below this the result comes with a warning."""


@dataclass(frozen=True)
class RiggedMesh:
    """A mesh with the skeleton that was found for it. Metres, Y up, the mesh's own axes."""

    mesh: SkinnedMesh
    skeleton: Skeleton
    template: str
    forward: Float[np.ndarray, "3"]
    """Horizontal unit vector, the way the body was taken to face."""
    confidence: float
    """From 0 to 1."""
    reasons: tuple[str, ...]
    """What speaks against the result, and what to check."""
    warnings: tuple[str, ...]
    """What was odd about the mesh when weights were solved for."""


@dataclass(frozen=True)
class FoundSkeleton:
    """Named joints in the mesh's own axes, metres."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    positions: Float[np.ndarray, "J 3"]
    template: str
    forward: Float[np.ndarray, "3"]
    confidence: float
    reasons: tuple[str, ...]


def find_skeleton(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    template: str = "auto",
    joints: Mapping[str, Float[np.ndarray, "3"]] | None = None,
) -> FoundSkeleton:
    """Joints for a mesh in metres, Y up.

    `template` is `auto` or a key of `TEMPLATES`. `joints` puts joints where they are given, in the
    mesh's axes; one whose name the template does not have is added under its nearest joint. Raises
    `ValueError` where the mesh has no inside, or the template cannot be fitted to it.
    """
    if template != "auto" and template not in TEMPLATES:
        raise ValueError(f"template must be auto, {', '.join(TEMPLATES)}; got {template!r}")
    mesh = weld(vertices, faces)
    frame = find_frame(mesh.vertices, mesh.faces)
    marks, vote = find_landmarks(fill(frame.into(mesh.vertices), mesh.faces))
    choice = choose(frame, marks, vote, template=template)
    placed = _place(choice.name, choice.fitted)
    sign = -1.0 if (vote < 0) != choice.is_turned else 1.0
    turned = np.array([p.position for p in placed]) * np.array([sign, 1.0, sign])
    positions = frame.out(turned)
    names = [p.name for p in placed]
    parents = [names.index(p.parent) if p.parent else -1 for p in placed]
    for name, position in (joints or {}).items():
        if name in names:
            positions[names.index(name)] = position
        else:
            gaps = np.linalg.norm(positions - position, axis=1)
            parents.append(int(gaps[1:].argmin()) + 1 if len(names) > 1 else 0)
            names.append(name)
            positions = np.concatenate((positions, [position]))
    return FoundSkeleton(
        tuple(names), tuple(parents), positions, choice.name, sign * frame.along,
        choice.confidence, choice.reasons,
    )  # fmt: skip


def _place(name: str, fitted: Fitted) -> list[Placed]:
    """Joints of a template in a body, both halves; metres, facing +z."""
    placed = TEMPLATES[name].place(fitted)
    if fitted.embedding is not None:
        placed, spread = expect(placed, fitted)
        if np.isfinite([p.position for p in placed]).all():
            placed = refine(placed, fitted, spread)
    if not np.isfinite([p.position for p in placed]).all():
        raise ValueError(f"the mesh has too little inside to fit a {name} to")
    return mirrored(placed)


def rig_mesh(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    colours: Float[np.ndarray, "V 3"],
    *,
    template: str = "auto",
    joints: Mapping[str, Float[np.ndarray, "3"]] | None = None,
    settings: HeatSettings | None = None,
) -> RiggedMesh:
    """A skeleton by `find_skeleton`, weights by heat. Metres, Y up; colours linear RGB."""
    found = find_skeleton(vertices, faces, template=template, joints=joints)
    parents = np.array(found.parents)
    above = np.where(parents[:, None] < 0, 0.0, found.positions[parents.clip(0)])
    rest = Pose.identity(len(parents))
    offsets = torch.from_numpy(found.positions - above).float()
    skeleton = Skeleton(found.names, found.parents, Pose(offsets, rest.rotation, rest.scale))
    tree = {j: p for j, p in enumerate(found.parents) if found.names[j] != "root"}
    segments = bone_segments(skeleton, found.positions, tree, vertices, faces)
    solved = solve_heat_weights(vertices, faces, segments, settings=settings)
    inverse_bind = torch.eye(4).repeat(len(parents), 1, 1)
    inverse_bind[:, :3, 3] = -torch.from_numpy(found.positions).float()
    skin = Skin(
        torch.arange(len(parents)),
        inverse_bind,
        torch.from_numpy(segments.joints[solved.bones]),
        torch.from_numpy(solved.weights).float(),
    )
    mesh = SkinnedMesh(
        torch.from_numpy(vertices).float(), torch.from_numpy(faces), skin,
        torch.from_numpy(colours).float(),
    )  # fmt: skip
    return RiggedMesh(
        mesh, skeleton, found.template, found.forward, found.confidence, found.reasons,
        solved.warnings,
    )  # fmt: skip
