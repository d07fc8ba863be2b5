"""`describe_body`: the `PoseBody` of a character, from its control rig, roles, names and mesh."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.settings import NAME_CHANNELS, POINTS, STEPS
from akd.rig.character import Character
from akd.rig.control import ROOT, ControlRig
from akd.rig.limits import AngleLimits
from akd.rig.roles.names import Side, words
from akd.rig.roles.role import LimbKind, Part, Role

PARTS, LIMBS, SIDES = tuple(Part), (None, *LimbKind), tuple(Side)


def describe_body(character: Character) -> tuple[PoseBody, float]:
    """The body and its size: the diagonal, in metres, of the box around its neutral pose."""
    rig = character.control_rig
    tokens = 1 + len(rig)
    to_body = _axes(rig)  # [3, 3], rows left, up, forward
    pivots = (torch.cat((rig.root_pivot[None], rig.pivots)) - rig.root_pivot) @ to_body.T
    surface, owner = _surface(character, to_body)
    reached = torch.cat((pivots, surface))
    size = float((reached.amax(0) - reached.amin(0)).norm().clamp_min(1e-6))
    pivots, surface = pivots / size, surface / size

    parents = torch.tensor([0, *(p + 1 for p in rig.parents)])
    chains = _chains(parents.tolist())
    depth = torch.tensor([len(chain) - 1 for chain in chains])
    points, has_points = _points(pivots, surface, owner)
    mirror = _mirror(rig.roles)
    third = torch.linalg.cross(rig.axes[:, 0], rig.axes[:, 1])
    frames = torch.stack((rig.axes[:, 0], rig.axes[:, 1], third), dim=1) @ to_body.T
    root_frame = torch.eye(3)[[0, 2, 1]][None]  # left, forward, up
    return PoseBody(
        present=torch.ones(tokens, dtype=torch.bool),
        parents=parents,
        depth=depth,
        pivots=pivots,
        frames=torch.cat((root_frame, frames)),
        ends=_ends(pivots, parents, points, has_points),
        mirror=mirror,
        relation=_relation(chains, mirror),
        features=_features(rig, parents, depth),
        roles=torch.tensor([_role_indices(role) for role in (Role(Part.PELVIS), *rig.roles)]),
        names=torch.stack([name_embedding(rig.skeleton.names[j]) for j in (rig.root, *rig.joints)]),
        points=points,
        has_points=has_points,
    ), size


def name_embedding(name: str) -> Float[Tensor, "N"]:
    """Unit vector of the name's words and of their n-grams of three and four letters, hashed."""
    vector = torch.zeros(NAME_CHANNELS)
    for word in words(name):
        marked = f"<{word}>"
        grams = {marked[i : i + n] for n in (3, 4) for i in range(len(marked) - n + 1)} | {marked}
        for gram in sorted(grams):
            code = zlib.crc32(gram.encode("utf-8"))
            vector[code % NAME_CHANNELS] += 1.0 if code & (1 << 20) else -1.0
    return vector / vector.norm().clamp_min(1e-6)


def _axes(rig: ControlRig) -> Float[Tensor, "3 3"]:
    up, left, forward = rig.root_axes
    return torch.stack((left, up, forward))


def _role_indices(role: Role) -> tuple[int, int, int]:
    return 1 + PARTS.index(role.part), 1 + LIMBS.index(role.limb), 1 + SIDES.index(role.side)


def _chains(parents: Sequence[int]) -> list[list[int]]:
    """Tokens from each token up to the root, itself first."""
    chains = [[0]]
    for token in range(1, len(parents)):
        chains.append([token, *chains[parents[token]]])
    return chains


def _relation(chains: list[list[int]], mirror: Tensor) -> Tensor:
    """Buckets of pairs by the steps from the one up to their common ancestor, and down again."""
    count = len(chains)
    relation = torch.zeros(count, count, dtype=torch.long)
    for a in range(count):
        place = {token: steps for steps, token in enumerate(chains[a])}
        for b in range(count):
            down = next(steps for steps, token in enumerate(chains[b]) if token in place)
            up = place[chains[b][down]]
            relation[a, b] = min(up, STEPS - 1) * STEPS + min(down, STEPS - 1)
        if int(mirror[a]) not in (-1, a):
            relation[a, mirror[a]] += STEPS * STEPS
    return relation


def _mirror(roles: Sequence[Role]) -> Tensor:
    """Token of the same role on the other side; -1 where there is none or several."""
    counts = Counter(roles)
    index = {role: token for token, role in enumerate(roles, start=1)}
    partners = [0]
    for token, role in enumerate(roles, start=1):
        if role.side is Side.CENTRE:
            partners.append(token)
            continue
        other = Role(role.part, role.side.other, role.limb, role.number)
        unique = counts[role] == 1 and counts[other] == 1
        partners.append(index[other] if unique else -1)
    return torch.tensor(partners)


def _features(rig: ControlRig, parents: Tensor, depth: Tensor) -> Float[Tensor, "J F"]:
    limits = AngleLimits.of(rig)
    tokens = len(parents)
    below = torch.ones(tokens)
    children = torch.zeros(tokens)
    for token in range(tokens - 1, 0, -1):
        below[parents[token]] += below[token]
        children[parents[token]] += 1.0
    numbers = torch.tensor([0, *(role.number for role in rig.roles)], dtype=torch.float32)
    reach = torch.cat((torch.zeros(1, 6), torch.cat((limits.forth, limits.back), dim=-1)))
    tree = torch.stack((depth / 8.0, below / tokens, children / 4.0, numbers / 4.0), dim=-1)
    return torch.cat((tree, reach), dim=-1)


def _surface(
    character: Character, to_body: Float[Tensor, "3 3"]
) -> tuple[Float[Tensor, "V 3"], np.ndarray]:
    """Vertices in the neutral pose, from the root's pivot, and the token that moves each most.

    Without props: a weapon that hangs below the feet is not what the body stands on.
    """
    rig, mesh = character.control_rig, character.body_mesh
    if mesh is None:
        return torch.zeros(0, 3), np.zeros(0, dtype=int)
    vertices = (mesh.pose(rig.neutral_world) - rig.root_pivot) @ to_body.T
    strongest = mesh.skin.bones.gather(1, mesh.skin.weights.argmax(1, keepdim=True))[:, 0]
    driver = rig.driver_index[mesh.skin.bone_joints[strongest]]
    sound = vertices.isfinite().all(-1)
    return vertices[sound], (driver - ROOT).clamp_min(0).numpy()[sound.numpy()]


def _points(
    pivots: Tensor, surface: Tensor, owner: np.ndarray
) -> tuple[Float[Tensor, "J P 3"], Tensor]:
    """A fixed number of surface points for each token, drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    points = torch.zeros(len(pivots), POINTS, 3)
    has = torch.zeros(len(pivots), dtype=torch.bool)
    for token in np.unique(owner):
        rows = np.flatnonzero(owner == token)
        chosen = rng.choice(rows, POINTS, replace=len(rows) < POINTS)
        points[token] = surface[chosen] - pivots[token]
        has[token] = True
    return points, has


def _ends(pivots: Tensor, parents: Tensor, points: Tensor, has_points: Tensor) -> Tensor:
    """The children's mean pivot; for a tip as far beyond its surface's middle as that is away."""
    ends = torch.zeros_like(pivots)
    for token in range(len(pivots)):
        children = [c for c in range(1, len(pivots)) if int(parents[c]) == token]
        if children:
            ends[token] = pivots[children].mean(0) - pivots[token]
        elif has_points[token]:
            ends[token] = 2.0 * points[token].mean(0)
    return ends
