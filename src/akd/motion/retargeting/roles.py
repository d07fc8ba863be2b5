"""Which joints of two bodies correspond: by role, and along a chain by share of its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from akd.rig.roles.role import Role

ROOT_TOKEN = 0
"""Tokens of a control rig: the root, then its controls."""
_STILL = 0.02
"""Radians: a joint that turns less than this over a clip does not move."""


@dataclass(frozen=True)
class Source:
    """Where a control takes its rotation from: between two tokens of the source."""

    before: int
    after: int
    share: float = 1.0
    """Of `after`; the rest is of `before`."""


def legs_in_words(character: Character) -> str:
    """`2 legs`, `4 legs`, `no legs`."""
    count = len(character.anatomy.legs)
    return f"{count or 'no'} leg{'' if count == 1 else 's'}"


def check_same_plan(source: Character, target: Character) -> None:
    """Raise `ValueError` where the two bodies stand on different numbers of legs."""
    plans = [legs_in_words(body) for body in (source, target)]
    if plans[0] != plans[1]:
        raise ValueError(
            f"{source.asset.path.name} has {plans[0]} and {target.asset.path.name} has {plans[1]}: "
            "a clip can only be retargeted to a body of the same plan"
        )


def correspond(
    source: ControlRig, target: ControlRig, given: Mapping[str, str] | None = None
) -> tuple[Source | None, ...]:
    """For each control of the target, where its rotation comes from; None where it has no match.

    Args:
        source: Rig of the body that has the motion.
        target: Rig of the body that gets it.
        given: Corrections: names of the target's joints by names of the source's.

    Raises:
        ValueError: A given name is not that of a driven joint.
    """
    chains: dict[tuple[object, ...], list[int]] = {}
    for token, role in enumerate(source.roles, start=1):
        chains.setdefault(chain_of(role), []).append(token)
    members: dict[tuple[object, ...], list[int]] = {}
    for control, role in enumerate(target.roles):
        members.setdefault(chain_of(role), []).append(control)
    found: list[Source | None] = [None] * len(target)
    for key, controls in members.items():
        if key not in chains:
            continue
        chain = chains[key]
        tokens = [source.parents[chain[0] - 1] + 1, *chain]
        for place, control in enumerate(controls, start=1):
            # The rotation of a chain is spread over its joints: compare at equal shares of it.
            before, rest = divmod(place * len(chain), len(controls))
            after = tokens[before + 1] if rest else tokens[before]
            share = rest / len(controls) if rest else 1.0
            found[control] = Source(tokens[before], after, share)
    for name, other in (given or {}).items():
        token = _token(source, name, "source")
        found[_token(target, other, "target") - 1] = Source(token, token)
    return tuple(found)


def moving_tokens(pose: ControlPose) -> list[int]:
    """Tokens of the controls that turn at all over a motion."""
    turns = (pose.angles.amax(0) - pose.angles.amin(0)).amax(-1)
    return [token for token, turn in enumerate(turns.tolist(), start=1) if turn > _STILL]


def unmatched_joints(
    source: ControlRig, matches: tuple[Source | None, ...], pose: ControlPose
) -> tuple[str, ...]:
    """Names of the source's joints that move and have no counterpart."""
    used = {token for match in matches if match for token in (match.before, match.after)}
    return tuple(
        source.skeleton.names[source.joints[token - 1]]
        for token in moving_tokens(pose)
        if token not in used
    )


def check_match(
    source: ControlRig, matches: tuple[Source | None, ...], pose: ControlPose, *, target: str
) -> None:
    """Raise `ValueError` where fewer than half of the joints that move have a counterpart."""
    moves, lost = moving_tokens(pose), unmatched_joints(source, matches, pose)
    if len(moves) < 2 * len(lost):
        raise ValueError(
            f"only {len(moves) - len(lost)} of the {len(moves)} joints that move have a "
            f"counterpart in {target}: at least half are needed (--map SOURCE=TARGET names one)"
        )


def chain_of(role: Role) -> tuple[object, ...]:
    """Key of joints that share one bend; middle legs are told apart by number."""
    return role.limb_id, role.side, role.part


def _token(rig: ControlRig, name: str, which: str) -> int:
    for token, joint in enumerate((rig.root, *rig.joints)):
        if rig.skeleton.names[joint] == name and token > ROOT_TOKEN:
            return token
    driven = ", ".join(rig.skeleton.names[j] for j in rig.joints)
    raise ValueError(f"map: {name!r} must be a driven joint of the {which}, one of {driven}")
