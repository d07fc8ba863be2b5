"""`rig_mesh`: a skeleton and weights for a bare mesh, with how far they are to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from akd.rig.autorig.frame import BodyFrame, find_frame
from akd.rig.autorig.landmarks import Landmarks, find_landmarks
from akd.rig.autorig.solid import fill
from akd.rig.autorig.templates import TEMPLATES
from akd.rig.bones import bone_segments
from akd.rig.heat import HeatSettings, solve_heat_weights
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.rig.surface_repair import weld

LOW_CONFIDENCE = 0.5
"""Below this the result comes with a warning."""
_ASYMMETRIC = 0.01
"""A body that mirrors itself this badly, in its own sizes, is posed unevenly or has no plane."""
_LONG = 0.5
"""A body on two legs that is longer than this, in heights, is no upright one."""
_SPRAWLING = 0.35
"""One pair of legs does not stand further from the middle than this, in heights."""


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


def score_templates(marks: Landmarks) -> dict[str, float]:
    """How badly each template fits a body, from 0: pairs of legs that are missing or left over, a
    body too long to be upright or too short to be level, a tail that nothing accounts for."""
    legs, height = len(marks.legs), marks.height
    layers = np.flatnonzero(marks.solid.filled.any(axis=(0, 1)))
    length = float((layers[-1] - layers[0] + 1) * marks.solid.cell) / height
    stand = marks.legs[-1].sole[2] if marks.legs else 0.0
    has_tail = marks.tail_end(float(stand)) is not None
    scores = {
        "quadruped": 2.0 * abs(legs - 2) + max(0.0, 0.8 - length),
        "biped": 2.0 * abs(legs - 1) + 4.0 * max(0.0, length - _LONG) + 0.5 * has_tail,
        "theropod": 2.0 * abs(legs - 1) + 4.0 * max(0.0, _LONG - length) + 1.0 * (not has_tail),
        "generic": 1.0,
    }
    if marks.hand_end() is None:
        scores["biped"] += 0.5
    spread = max((float(leg.sole[0]) for leg in marks.legs), default=0.0) / height
    for upright in ("biped", "theropod"):
        scores[upright] += 10.0 * max(0.0, spread - _SPRAWLING)  # fins, not legs
    return scores


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
    scores = score_templates(marks)
    chosen = min(scores, key=lambda n: scores[n]) if template == "auto" else template
    plan = TEMPLATES[chosen]
    if len(marks.legs) < plan.legs:
        raise ValueError(
            f"a {chosen} stands on {plan.legs} pairs of legs, and {len(marks.legs)} were found: "
            f"try another --template"
        )
    placed = plan.place(marks)
    if not np.isfinite([p.position for p in placed]).all():
        raise ValueError(f"the mesh has too little inside to fit a {chosen} to")
    confidence, reasons = _trust(frame, marks, vote, scores, chosen, template != "auto")
    sign = -1.0 if vote < 0 else 1.0
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
        tuple(names), tuple(parents), positions, chosen, sign * frame.along, confidence, reasons
    )


def _trust(
    frame: BodyFrame,
    marks: Landmarks,
    vote: float,
    scores: dict[str, float],
    chosen: str,
    is_given: bool,
) -> tuple[float, tuple[str, ...]]:
    """How sure the result is, and why not."""
    confidence, reasons = 1.0, []
    if frame.asymmetry > _ASYMMETRIC:
        confidence *= 0.6
        reasons.append(
            f"the body is not symmetric (mirrored points miss it by {100 * frame.asymmetry:.1f} % "
            f"of its size): check left and right"
        )
    if abs(vote) < 0.4:
        confidence *= 0.6
        reasons.append("front and back look alike: check which way it faces")
    if chosen != "generic" and scores[chosen] > 0.5:
        confidence *= 0.5
        reasons.append(
            f"a {chosen} does not fit well ({len(marks.legs)} pairs of legs were found): check the "
            f"legs, or give another --template"
        )
    if chosen == "generic":
        confidence *= 0.3
        reasons.append(
            f"no body plan fits ({len(marks.legs)} pairs of legs were found): joints only follow "
            f"the shape and have no roles: check them all"
        )
    ordered = sorted(scores.values())
    if not is_given and ordered[1] - ordered[0] < 0.2:
        confidence *= 0.7
        other = sorted(scores, key=lambda n: scores[n])[1]
        reasons.append(f"a {other} fits almost as well as a {chosen}: see --template")
    return confidence, tuple(reasons)


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
