"""Skins: the joints a mesh is bound to, and their inverse bind matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Node, SkinRecord
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.problems import ProblemLog


def read_skins(
    root: Fields, accessors: Accessors, nodes: Sequence[Node], problems: ProblemLog
) -> tuple[SkinRecord, ...]:
    """Return every skin; one that is broken but not used is left without joints."""
    used = {node.skin for node in nodes}
    skins: list[SkinRecord] = []
    for i, entry in enumerate(root.objects("skins", "skin")):
        try:
            skins.append(_read_skin(entry, accessors, len(nodes), problems))
        except GltfError as error:
            if i in used:
                raise
            problems.left_out(error, "no node uses the skin: it is left empty")
            skins.append(SkinRecord(entry.name(), np.zeros(0, np.int64), np.zeros((0, 4, 4))))
    return tuple(skins)


def _read_skin(entry: Fields, accessors: Accessors, nodes: int, problems: ProblemLog) -> SkinRecord:
    joints = np.array(entry.indices("joints", nodes, "nodes"), np.int64)
    if not len(joints):
        problems.warn(entry.where, "has no joints", "what hangs on it is taken as not skinned")
    elif len(np.unique(joints)) < len(joints):
        problems.note(entry.where, "lists a joint twice", "both are kept")
    try:
        entry.index("skeleton", nodes, "nodes")
    except GltfError as error:
        problems.left_out(error, "the root is found from the joints")
    index = entry.index("inverseBindMatrices", len(accessors), "accessors")
    if index is None:
        matrices = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    else:
        where = entry.place("inverseBindMatrices")
        matrices = _read_matrices(accessors, index, len(joints), where, problems)
    return SkinRecord(entry.name(), joints, matrices)


def _read_matrices(
    accessors: Accessors, index: int, count: int, where: str, problems: ProblemLog
) -> Float[np.ndarray, "J 4 4"]:
    if accessors.kind(index) != "MAT4":
        raise GltfError(where, f"must be MAT4, got {accessors.kind(index)}")
    values = accessors.floats(index)
    if len(values) < count:
        raise GltfError(where, f"must be one for each of {count} joints, got {len(values)}")
    if len(values) > count:
        what = f"holds {len(values)} matrices for {count} joints"
        problems.note(where, what, "the last ones are ignored")
    # Stored column by column.
    matrices = values[:count].reshape(count, 4, 4).transpose(0, 2, 1)
    if not np.isfinite(matrices).all():
        bad = int(np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2)))[0])
        raise GltfError(where, f"must be finite, got others for joint {bad} of the skin")
    off = np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(initial=0.0)
    if off > 0.0:
        if off > 1e-5:
            problems.warn(where, "last rows are not 0 0 0 1", "those rows are set to it")
        matrices = matrices.copy()
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return matrices
