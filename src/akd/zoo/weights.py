"""Which bones move which part of the skin, from how near each bone's flesh is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd.zoo.mesh.shapes import Array, Part, smoothstep
from akd.zoo.species.anatomy import Anatomy

INFLUENCES = 4
_LIMBS = ("left_fore", "left_hind", "left_leg", "left_arm", "left_wing", "left_fin")
_SPREAD = 0.40
"""How gradually a chain of bones hands over from one to the next, in local thicknesses squared."""
_SMOOTHING_ROUNDS = 3


def skin_weights(anatomy: Anatomy, half: Array, edges: NDArray[np.integer]) -> Array:
    """Weights [V, J] of the left half's vertices [V, 3]: non-negative, rows sum to one.

    Flesh of the right half counts too, so that the weights run smoothly through the middle.
    """
    units = _units(anatomy)
    mirrored = half * (-1.0, 1.0, 1.0)
    height = float(np.ptp(half[:, 1]))
    distances, softness, shares, limbs = [], [], [], []
    for (group, bone), parts in units.items():
        is_left = group.startswith("left_") or (bone or "").startswith("left_")
        sides = (False, True) if is_left else (False,)
        for flip in sides:
            points = mirrored if flip else half
            near = np.min([part.shape.distance(points) for part in parts], axis=0)
            distances.append(near)
            softness.append(max(0.7 * max(part.blend for part in parts), 0.008 * height))
            shares.append(_chain_shares(anatomy, group, bone, points, near, flip=flip))
            limbs.append(_limb(group, flip=flip))
    distance = np.stack(distances, axis=1)
    over = distance - distance.min(axis=1, keepdims=True)
    kernel = np.maximum(1.0 - over / np.asarray(softness), 0.0) ** 2
    _keep_limbs_apart(kernel, distance, limbs)
    kernel /= kernel.sum(axis=1, keepdims=True)
    weights = np.einsum("vu,uvj->vj", kernel, np.stack(shares))
    _plant_soles(anatomy, weights, half)
    return _smooth(anatomy, weights, half, edges)


def strongest(weights: Array) -> tuple[NDArray[np.integer], Array]:
    """The few strongest bones of every vertex and their weights, which sum to one."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, : INFLUENCES + 1]
    kept = np.take_along_axis(weights, order, axis=1)
    # In the middle of the body left and right are equals: both stay or both go.
    equal = np.abs(kept - kept[:, -1:]) < 1e-6 * kept[:, :1]
    kept = np.where(equal, 0.0, kept)[:, :INFLUENCES]
    return order[:, :INFLUENCES], kept / kept.sum(axis=1, keepdims=True)


def mirror_joints(names: list[str]) -> NDArray[np.integer]:
    """For each joint, its mirror image; a joint in the middle is its own."""
    place = {name: i for i, name in enumerate(names)}
    swap = {"left_": "right_", "right_": "left_"}
    twins = []
    for name in names:
        start = next((s for s in swap if name.startswith(s)), None)
        twins.append(place[swap[start] + name.removeprefix(start) if start else name])
    return np.asarray(twins)


def _limb(group: str, *, flip: bool) -> str:
    """The limb a group belongs to, with its side; empty for trunk, head and tail."""
    if not group.startswith(_LIMBS):
        return ""
    return group.replace("left_", "right_") if flip else group


def _keep_limbs_apart(kernel: Array, distance: Array, limbs: list[str]) -> None:
    """Let one limb move another's skin only where both melt into the trunk."""
    names = np.asarray(limbs)
    nearest = names[distance.argmin(axis=1)]
    trunk = kernel[:, names == ""].max(axis=1)
    for unit, limb in enumerate(limbs):
        other = (nearest != "") & (nearest != limb)
        if limb:
            kernel[other, unit] *= trunk[other]


def _plant_soles(anatomy: Anatomy, weights: Array, half: Array) -> None:
    """Give what is low on a leg to its toes (to the foot, where the heel comes down), so that a
    planted sole is rigid."""
    place = {name: i for i, name in enumerate(anatomy.names)}
    for leg in anatomy.legs:
        sole = leg.foot if leg.kind == "plantigrade" else leg.toes
        others = [place[name] for name in leg.bones[: leg.bones.index(sole)]]
        t = np.clip((half[:, 1] / anatomy.position(sole)[1] - 0.5) / 0.6, 0.0, 1.0)
        keep = smoothstep(t)[:, None]
        given = (1.0 - keep) * weights[:, others]
        weights[:, others] -= given
        weights[:, place[sole]] += given.sum(axis=1)
        if leg.kind == "plantigrade":
            # The ball of the foot stays down while the heel rises: it belongs to the toes.
            ball, ankle = anatomy.position(leg.toes)[2], anatomy.position(leg.foot)[2]
            t = np.clip((half[:, 2] - ball) / (ball - ankle) * 4.0 + 1.4, 0.0, 1.0)
            given = smoothstep(t) * weights[:, place[leg.foot]]
            weights[:, place[leg.foot]] -= given
            weights[:, place[leg.toes]] += given


def _units(anatomy: Anatomy) -> dict[tuple[str, str | None], list[Part]]:
    """Parts that move together: those of one group, or of one bone within it."""
    units: dict[tuple[str, str | None], list[Part]] = {}
    for part in anatomy.parts:
        if part.action == "add":
            units.setdefault((part.group, part.bone), []).append(part)
    return units


def _chain_shares(
    anatomy: Anatomy, group: str, bone: str | None, points: Array, surface: Array, *, flip: bool
) -> Array:
    """How the bones of a group share points [V, 3] among them: [V, J].

    `surface` [V] is how far the points are from the group's flesh.
    """
    shares = np.zeros((len(points), len(anatomy.names)))
    place = {name: i for i, name in enumerate(anatomy.names)}

    def column(name: str) -> int:
        return place[name.replace("left_", "right_") if flip else name]

    if bone is not None:
        shares[:, column(bone)] = 1.0
        return shares
    bones = anatomy.chains[group]
    distance = np.stack([_to_segment(points, a, b) for _, a, b in bones], axis=1)
    least = distance.min(axis=1, keepdims=True).clip(1e-6)
    # Off its own flesh a group would spread ever wider; it goes by its own thickness there.
    own = np.abs(surface) < 0.02 * float(np.ptp(points[:, 1]))
    thick = float(np.quantile(least[own], 0.8)) if own.any() else float(least.min())
    kernel = np.maximum(1.0 - (distance - least) / (_SPREAD * np.minimum(least, thick)), 0.0) ** 2
    kernel /= kernel.sum(axis=1, keepdims=True)
    for i, (name, _, _) in enumerate(bones):
        shares[:, column(name)] += kernel[:, i]
    return shares


def _to_segment(points: Array, a: Array, b: Array) -> Array:
    along = b - a
    t = np.clip((points - a) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - a - t[:, None] * along, axis=1)


def _smooth(anatomy: Anatomy, weights: Array, half: Array, edges: NDArray[np.integer]) -> Array:
    """Average with the neighbours on the skin, except on the soles, which stay rigid."""
    from scipy.sparse import csr_matrix

    count = len(weights)
    both = np.concatenate((edges, edges[:, ::-1]))
    degree = np.bincount(both[:, 0], minlength=count)
    mean = csr_matrix((1.0 / degree[both[:, 0]], (both[:, 0], both[:, 1])), shape=(count, count))
    twins = mirror_joints(anatomy.names)
    middle = half[:, 0] == 0.0
    place = {name: i for i, name in enumerate(anatomy.names)}
    rigid = np.zeros(count, bool)
    for leg in anatomy.legs:
        sole = [leg.foot, leg.toes] if leg.kind == "plantigrade" else [leg.toes]
        rigid |= weights[:, [place[name] for name in sole]].sum(axis=1) > 0.999
    for _ in range(_SMOOTHING_ROUNDS):
        averaged = 0.5 * (weights + mean @ weights)
        averaged[middle] = 0.5 * (averaged[middle] + averaged[middle][:, twins])
        weights = np.where(rigid[:, None], weights, averaged)
    weights = np.where(weights < 2e-3, 0.0, weights)
    return weights / weights.sum(axis=1, keepdims=True)
