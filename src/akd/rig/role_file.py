"""Corrections of joint roles: a TOML file that names joints and their roles.

    # joint = "role"
    b_LeftHand_011 = "left fore foot"
    "Tail.001" = "tail 2"
    Prop = "helper"

Feet, sides and limbs follow from it; what is not mentioned stays as it was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from akd.asset.asset import AssetError
from akd.asset.gltf.fields import shown
from akd.asset.surface import naming_file, read_bytes
from akd.base.files import parse_toml
from akd.rig.character import Character
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind, Part, Role
from akd.rig.skeleton import Skeleton

_TRUNK = (Part.PELVIS, Part.SPINE, Part.NECK, Part.HEAD)
_ENDS = (Part.FOOT, Part.HAND)
_BEHIND = 0.1
"""Fraction of a body's length by which its head must lie behind its middle to turn it round: a
head bowed back does not."""


def parse_role(text: str) -> Role:
    """A role from its words, as `str(role)` writes them: `left hind foot`, `tail 2`, `head`.

    Raises `ValueError` that names the word.
    """
    side, limb, part, number = Side.CENTRE, None, None, 0
    for word in text.lower().split():
        if word.isdecimal() and len(word) < 4:
            number = int(word)
        elif word in (Side.LEFT.value, Side.RIGHT.value):
            side = Side(word)
        elif word in set(LimbKind):
            limb = LimbKind(word)
        elif word in set(Part) and part is None:
            part = Part(word)
        else:
            known = ", ".join([*(s.value for s in Side if s.value), *LimbKind, *Part])
            raise ValueError(f"{shown(word)} in {shown(text)} is not a word for a role: {known}")
    if part is None:
        raise ValueError(f"{shown(text)} names no part: {', '.join(Part)}")
    return Role(part, side, limb, number)


def read_role_file(path: Path) -> dict[str, Role]:
    """Roles by the names of joints. Raises `AssetError` where the file is wrong."""
    with naming_file(path):
        data = read_bytes(path, growth=100)
    try:
        given = parse_toml(data.decode("utf-8-sig"))
    except ValueError as error:
        raise AssetError(f"{path}: must be TOML: {shown(str(error))}") from None
    roles: dict[str, Role] = {}
    for name, text in given.items():
        if not isinstance(text, str):
            raise AssetError(f"{path}: the role of {shown(name)} must be text, got {shown(text)}")
        try:
            roles[name] = parse_role(text)
        except ValueError as error:
            raise AssetError(f"{path}: joint {shown(name)}: {error}") from None
    return roles


def correct_roles(character: Character, roles: Mapping[str, Role]) -> Character:
    """The character with some of its joints' roles replaced, and limbs, feet, sides and forward to
    match. Raises `AssetError` for a joint that there is not, or that there are several of."""
    skeleton = character.skeleton
    joints: dict[int, Role] = {}
    for name, role in roles.items():
        found = [j for j, n in enumerate(skeleton.names) if n == name]
        if len(found) != 1:
            what = "there is no joint" if not found else f"{len(found)} joints are"
            raise AssetError(f"{character.asset.path.name}: {what} called {shown(name)}")
        joints[found[0]] = role
    positions = skeleton.forward(character.bind)[:, :3, 3].double().numpy()
    anatomy = _corrected(character.anatomy, skeleton, joints, positions)
    return replace(character, anatomy=anatomy)


def _corrected(
    anatomy: Anatomy, skeleton: Skeleton, given: Mapping[int, Role], positions: np.ndarray
) -> Anatomy:
    if not given:
        return anatomy
    if _says_it_faces_back(anatomy, given, positions):
        anatomy = _turned_round(anatomy)
    roles = list(anatomy.roles)
    touched = {_limb_key(roles[j]) for j in given} | {_limb_key(r) for r in given.values()}
    for joint, role in given.items():
        roles[joint] = role
    limbs = [limb for limb in anatomy.limbs if _key(limb) not in touched]
    for key in sorted(k for k in touched if k is not None):
        members = [j for j, r in enumerate(roles) if _limb_key(r) == key]
        if members:
            limbs.append(_limb(key, members, roles, skeleton))
    order = {kind: i for i, kind in enumerate(LimbKind)}
    limbs.sort(key=lambda x: (order[x.kind], x.number, x.side.value))
    trunk, tail = anatomy.trunk, anatomy.tail
    if any(roles[j].part in _TRUNK or anatomy.roles[j].part in _TRUNK for j in given):
        trunk = _by_depth(skeleton, [j for j, r in enumerate(roles) if r.part in _TRUNK])
    if any(Part.TAIL in (roles[j].part, anatomy.roles[j].part) for j in given):
        tail = _by_depth(skeleton, [j for j, r in enumerate(roles) if r.part is Part.TAIL])
    return replace(
        anatomy,
        roles=tuple(roles),
        limbs=tuple(limbs),
        trunk=trunk,
        tail=tail,
        partners=anatomy.partners | _partners(roles, given),
    )


def _by_depth(skeleton: Skeleton, joints: list[int]) -> tuple[int, ...]:
    return tuple(sorted(joints, key=lambda j: len(list(skeleton.ancestors(j)))))


def _limb_key(role: Role) -> tuple[str, str, int] | None:
    """What joints of one limb have in common; None off the limbs."""
    if role.limb_id is None:
        return None
    kind, side, number = role.limb_id
    return kind.value, side.value, number


def _key(limb: Limb) -> tuple[str, str, int]:
    return limb.kind.value, limb.side.value, limb.number if limb.kind is LimbKind.MID else 0


def _limb(
    key: tuple[str, str, int], members: list[int], roles: list[Role], skeleton: Skeleton
) -> Limb:
    """A limb from the joints whose roles say they are of it; toes come after the foot."""
    ranks = {part: i for i, part in enumerate(Part)}
    depth = {j: len(list(skeleton.ancestors(j))) for j in members}
    members = sorted(members, key=lambda j: (ranks[roles[j].part], depth[j]))
    ends = [j for j in members if roles[j].part in _ENDS]
    return Limb(LimbKind(key[0]), Side(key[1]), tuple(members), (ends or members)[-1], key[2])


def _partners(roles: list[Role], given: Mapping[int, Role]) -> dict[int, int]:
    """Joints whose roles differ in the side alone, of those that were given."""
    by_role: dict[str, list[int]] = {}
    for joint, role in enumerate(roles):
        by_role.setdefault(str(role), []).append(joint)
    result: dict[int, int] = {}
    for joint, role in given.items():
        if role.side is Side.CENTRE or role.part in (Part.OTHER, Part.HELPER):
            continue
        others = by_role.get(str(replace(role, side=role.side.other)), [])
        if len(others) == 1 and len(by_role[str(role)]) == 1:
            result |= {joint: others[0], others[0]: joint}
    return result


def _says_it_faces_back(anatomy: Anatomy, given: Mapping[int, Role], positions: np.ndarray) -> bool:
    """Whether what is called left lies, on the whole, on the right of where it was thought to face:
    then it faces the other way. Where no side is given, a head that lies behind tells it too."""
    axes = np.stack((anatomy.left, anatomy.forward))
    places = (positions - np.median(positions, axis=0)) @ axes.T
    sign = {Side.LEFT: 1.0, Side.RIGHT: -1.0}
    sides = [sign[r.side] * places[j, 0] for j, r in given.items() if r.side in sign]
    if sides:
        return float(sum(sides)) < 0.0
    ahead = [places[j, 1] for j, role in given.items() if role.part is Part.HEAD]
    return float(sum(ahead)) < -_BEHIND * float(np.ptp(positions @ anatomy.forward))


def _turned_round(anatomy: Anatomy) -> Anatomy:
    """The same body facing the other way: left is right, fore is hind."""
    swap = {LimbKind.FORE: LimbKind.HIND, LimbKind.HIND: LimbKind.FORE}

    def kind(limb: LimbKind | None) -> LimbKind | None:
        return swap.get(limb, limb) if limb else None

    return replace(
        anatomy,
        forward=-anatomy.forward,
        left=-anatomy.left,
        forward_found_by="the roles given by hand",
        forward_confidence=1.0,
        roles=tuple(replace(r, side=r.side.other, limb=kind(r.limb)) for r in anatomy.roles),
        limbs=tuple(
            replace(x, side=x.side.other, kind=swap.get(x.kind, x.kind)) for x in anatomy.limbs
        ),
    )
