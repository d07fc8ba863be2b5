"""Actions of a body: its body plan, and phrases for the actions of that plan."""

from __future__ import annotations

from collections.abc import Collection

from akd.motion.actions import ACTION_LABELS, ACTIONS, MANNER_LABELS, MANNERS, Action, Body
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

_WALKS = tuple(manner for manner in MANNERS if manner.kind is None and manner.name != "high")
"""Manners of walking."""


def body_plan(anatomy: Anatomy) -> Body:
    """The body plan by which the table of actions says who does what."""
    legs = len(anatomy.legs)
    kinds = {limb.kind for limb in anatomy.limbs}
    if legs:
        if LimbKind.WING in kinds:
            return "winged"
        return "biped" if legs < 4 else "quadruped" if legs == 4 else "many-legged"
    return "finned" if LimbKind.FIN in kinds else "legless"


def suits(action: Action, anatomy: Anatomy) -> bool:
    """Whether a body does an action. What runs on four legs gallops."""
    two_legged = action.alternates != "on two legs" or len(anatomy.legs) == 2
    return body_plan(anatomy) in action.bodies and two_legged


def repertoire(
    anatomy: Anatomy, known: Collection[str] = (*ACTION_LABELS, *MANNER_LABELS)
) -> tuple[str, ...]:
    """Phrases such as `galloping` for all actions that suit a body, and for manners of walking.

    Args:
        anatomy: Of the body.
        known: Words that the prior was trained with; other actions and manners are left out.
    """
    found = [a for a in ACTIONS.values() if a.label == a.name in known and suits(a, anatomy)]
    phrases = [action.participle for action in found]
    if ACTIONS["walk"] in found:
        phrases += [f"walking, {m.words[0]}" for m in _WALKS if m.label in known]
    return tuple(phrases)
