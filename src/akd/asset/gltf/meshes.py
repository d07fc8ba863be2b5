"""Meshes: lists of parts, with the names and rest weights of their morph targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Mesh, Node, SkinRecord
from akd.asset.gltf.fields import Fields, GltfError, clean_text
from akd.asset.gltf.parts import PartReader
from akd.asset.gltf.problems import ProblemLog


def read_meshes(
    root: Fields,
    parts: PartReader,
    nodes: Sequence[Node],
    skins: Sequence[SkinRecord],
    problems: ProblemLog,
) -> tuple[Mesh, ...]:
    """Return every mesh; one that is broken but that no node shows is left without parts."""
    shown = {node.mesh for node in nodes}
    joint_counts = _joint_counts(nodes, skins)
    meshes: list[Mesh] = []
    for i, entry in enumerate(root.objects("meshes", "mesh")):
        try:
            mesh = _read_mesh(entry, parts, joint_counts.get(i), problems)
        except GltfError as error:
            if i in shown:
                raise
            problems.left_out(error, "no node shows the mesh: it is left empty")
            mesh = Mesh(entry.name(), ())
        if i in shown and i not in joint_counts and any(p.joints is not None for p in mesh.parts):
            problems.note(
                entry.where, "has joints, but no node shows it with a skin", "not skinned"
            )
        meshes.append(mesh)
    return tuple(meshes)


def _joint_counts(nodes: Sequence[Node], skins: Sequence[SkinRecord]) -> dict[int, int]:
    """For each mesh that is shown with a skin: the joints of the smallest such skin."""
    counts: dict[int, int] = {}
    for node in nodes:
        if node.mesh is not None and node.skin is not None:
            count = len(skins[node.skin].joints)
            counts[node.mesh] = min(count, counts.get(node.mesh, count))
    return counts


def _read_mesh(
    entry: Fields, reader: PartReader, joint_count: int | None, problems: ProblemLog
) -> Mesh:
    primitives = entry.objects("primitives", "part")
    if not primitives:
        problems.warn(entry.where, "has no primitives", "it is left empty")
    target_counts = {len(primitive.items("targets")) for primitive in primitives}
    targets = max(target_counts, default=0)
    if len(target_counts) > 1:
        what = f"its parts have {sorted(target_counts)} morph targets"
        problems.warn(entry.where, what, "those that are missing do nothing")
    read = (reader.read(primitive, joint_count, targets) for primitive in primitives)
    parts = tuple(part for part in read if part is not None)
    if not targets:
        return Mesh(entry.name(), parts)
    weights = _read_morph_weights(entry, targets, problems)
    return Mesh(entry.name(), parts, weights, _read_morph_names(entry, targets))


def _read_morph_weights(
    entry: Fields, targets: int, problems: ProblemLog
) -> Float[np.ndarray, "M"]:
    weights = np.zeros(targets)
    try:
        given = entry.numbers("weights", targets, (0.0,) * targets)
    except GltfError as error:
        problems.left_out(error, "all are taken as zero")
        return weights
    weights[:] = given
    return weights


def _read_morph_names(entry: Fields, targets: int) -> tuple[str, ...]:
    """The names that exporters by custom write into the mesh's extras."""
    extras = entry.values.get("extras")
    names = extras.get("targetNames") if isinstance(extras, dict) else None
    if not isinstance(names, list) or len(names) != targets:
        return ()
    return tuple(clean_text(name) if isinstance(name, str) else "" for name in names)
