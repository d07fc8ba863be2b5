"""A character described: as plain data for programs, as text for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from akd.motion.clip_names import clip_labels
from akd.rig.character import Character
from akd.rig.control import ControlRig

_AXES = "xyz"
_DOUBTFUL = 0.9
"""Below this probability, text says how to turn a body round."""


def describe(character: Character) -> dict[str, Any]:
    """Describe a character: everything that `akd inspect` shows.

    Args:
        character: What `load` returned.

    Returns:
        JSON values.
    """
    asset = character.asset
    rig = character.control_rig if character.anatomy.body.root >= 0 else None
    return {
        "file": asset.path.name,
        "format": asset.format,
        "meshes": [
            {
                "name": mesh.name,
                "vertices": sum(len(p.positions) for p in mesh.parts),
                "faces": sum(len(p.faces) for p in mesh.parts),
                "parts": len(mesh.parts),
                "morph_targets": max(
                    (len(p.morphs) for p in mesh.parts if p.morphs is not None), default=0
                ),
            }
            for mesh in asset.meshes
        ],
        "splats": 0 if asset.splats is None else len(asset.splats.means),
        "materials": [
            {
                "name": m.name,
                "base_colour": list(m.base_colour),
                "texture": _image(character, m.image),
            }
            for m in asset.materials
        ],
        "influences": _influences(character),
        "joints": _joints(character),
        "clips": [
            {"name": c.name, "start": c.start, "end": c.end, "tracks": len(c.tracks)}
            for c in asset.clips
        ],
        "units": {
            "metres_per_unit": character.units.metres_per_unit,
            "found_by": character.units.found_by,
        },
        "axes": {
            "up": character.units.up,
            "forward": _axis_name(_file_forward(character)),
            "found_by": character.anatomy.forward_found_by,
            "confidence": round(character.anatomy.forward_confidence, 3),
        },
        "body_height": character.height,
        "limbs": [
            {
                "limb": str(limb),
                "joints": [character.skeleton.names[j] for j in limb.joints],
                "tip": character.skeleton.names[limb.tip],
                "confidence": round(limb.confidence, 3),
                "doubt": limb.doubt,
            }
            for limb in character.anatomy.limbs
        ],
        "control_rig": None if rig is None else _control(rig),
        "problems": [
            {"severity": p.severity, "where": p.where, "what": p.what, "action": p.action}
            for p in character.problems
        ],
    }


def _image(character: Character, index: int | None) -> str | None:
    if index is None:
        return None
    image = character.asset.images[index]
    return (
        f"{image.name or index} ({image.mime_type or 'unknown'}, {len(image.data) / 1024:.0f} KiB)"
    )


def _influences(character: Character) -> dict[str, float]:
    """How many joints move a vertex: the most, and the mean."""
    if character.mesh is None:
        return {"most": 0, "mean": 0.0}
    count = (character.mesh.skin.weights > 0).sum(dim=1)
    return {"most": int(count.max()), "mean": round(float(count.float().mean()), 3)}


def _joints(character: Character) -> list[dict[str, Any]]:
    skeleton, anatomy = character.skeleton, character.anatomy
    return [
        {
            "name": skeleton.names[j],
            "parent": skeleton.parents[j],
            "role": str(anatomy.roles[j]),
            "attached_to": anatomy.body.detached.get(j),
        }
        for j in range(len(skeleton))
    ]


def _control(rig: ControlRig) -> dict[str, Any]:
    names = rig.skeleton.names
    return {
        "root": names[rig.root],
        "travel": names[rig.travel_joint],
        "neutral": rig.neutral_from,
        "driven": [
            {
                "joint": names[j],
                "role": str(r),
                "parent": names[rig.root if p < 0 else rig.joints[p]],
            }
            for j, r, p in zip(rig.joints, rig.roles, rig.parents, strict=True)
        ],
    }


def _file_forward(character: Character) -> np.ndarray:
    """The way the character faces, in the axes of the file."""
    along = character.units.points_out(character.forward).numpy()
    return along / np.linalg.norm(along)


def _axis_name(direction: np.ndarray) -> str:
    """`+z` for an axis, else the vector."""
    place = int(np.abs(direction).argmax())
    if abs(direction[place]) > 0.999:
        return ("+" if direction[place] > 0 else "-") + _AXES[place]
    return "(" + ", ".join(f"{x:.2f}" for x in direction) + ")"


def describe_text(character: Character) -> str:
    """The description as text."""
    d = describe(character)
    lines = [f"{d['file']}  ({d['format']})", ""]
    if d["splats"]:
        lines.append(f"Gaussians      {d['splats']:,}")
    for mesh in d["meshes"]:
        morphs = f", {mesh['morph_targets']} morph targets" if mesh["morph_targets"] else ""
        lines.append(
            f"mesh           {mesh['name'] or '(unnamed)'}: {mesh['vertices']:,} vertices, "
            f"{mesh['faces']:,} triangles{morphs}"
        )
    for material in d["materials"]:
        texture = f", texture {material['texture']}" if material["texture"] else ""
        lines.append(f"material       {material['name'] or '(unnamed)'}{texture}")
    if d["influences"]["most"]:
        most = d["influences"]["most"]
        lines.append(
            f"influences     at most {most} joint{'s' if most > 1 else ''} a vertex, "
            f"{d['influences']['mean']:.1f} on average"
        )
    lines.append(f"height         {d['body_height']:.3f} m  ({d['units']['found_by']})")
    sure = d["axes"]["confidence"]
    lines.append(
        f"axes           up +{d['axes']['up']}, forward {d['axes']['forward']}  "
        f"(by {d['axes']['found_by']}, {100 * sure:.0f} % sure)"
    )
    if sure < _DOUBTFUL:
        lines.append(f"{'':15}--roles FILE turns it: give the side of one foot, or the head")
    for clip, label in zip(d["clips"], clip_labels(character.asset.clips), strict=True):
        lines.append(
            f"clip           {label or '(unnamed)'}: {clip['end'] - clip['start']:.2f} s, "
            f"{clip['tracks']} tracks"
        )
    for limb in d["limbs"]:
        doubt = f"; {limb['doubt']}" if limb["doubt"] else ""
        lines.append(
            f"limb           {limb['limb']:<14} to {limb['tip']}, "
            f"{100 * limb['confidence']:.0f} % sure{doubt}"
        )
    lines += ["", *_tree_lines(character)]
    lines += ["", *_control_lines(d["control_rig"])]
    if d["problems"]:
        lines += ["", "problems"]
        lines += [
            f"  {p['severity']:8} {p['where']}: {p['what']}; {p['action']}" for p in d["problems"]
        ]
    else:
        lines += ["", "no problems"]
    return "\n".join(lines)


def _tree_lines(character: Character) -> list[str]:
    """Joints as a tree with their roles."""
    skeleton, anatomy = character.skeleton, character.anatomy
    if not len(skeleton):
        return ["no nodes"]
    lines = ["joints"]
    depths: dict[int, int] = {}
    for root in skeleton.roots:
        for joint in skeleton.subtree(root):
            parent = skeleton.parents[joint]
            depths[joint] = 0 if parent < 0 else depths[parent] + 1
            label = "  " * (1 + depths[joint]) + (skeleton.names[joint] or f"(node {joint})")
            role = str(anatomy.roles[joint])
            if joint in anatomy.body.detached:
                role += f"  -> belongs to {skeleton.names[anatomy.body.detached[joint]]}"
            lines.append(f"{label:<48} {role}")
    return lines


def _control_lines(rig: dict[str, Any] | None) -> list[str]:
    if rig is None:
        return ["control rig    none: nothing here moves a surface"]
    if not rig["driven"]:
        return [
            f"control rig    none: {rig['root']} is the only joint that moves the mesh; `akd rig` "
            f"makes a skeleton"
        ]
    lines = [
        f"control rig    {len(rig['driven'])} driven joints under {rig['root']}; travel is written "
        f"to {rig['travel']}",
        f"               zero is {rig['neutral']}",
    ]
    return lines + [f"  {d['role']:<28} {d['joint']}" for d in rig["driven"]]
