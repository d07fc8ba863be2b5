"""Body plans, and the actions that bodies of each plan do: those that the tiny prior has seen."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from akd.motion.actions import ACTION_LABELS, ACTIONS, MANNER_LABELS, MANNERS, Action, Body
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

PLANS: tuple[Body, ...] = get_args(Body)
"""Body plans of its training videos."""
_WALKS = tuple(manner for manner in MANNERS if manner.kind is None and manner.name != "high")
"""Manners of walking."""


def body_plans(anatomy: Anatomy) -> tuple[Body, ...]:
    """The plans that a body belongs to: by its legs, and by its wings or fins.

    Empty for a body unlike any that the prior was trained on, such as one with a single leg.
    """
    legs, kinds = len(anatomy.legs), {limb.kind for limb in anatomy.limbs}
    plans: list[Body] = []
    if LimbKind.WING in kinds:
        plans.append("winged")
    if legs > 4:
        plans.append("many-legged")
    elif legs in (2, 4):
        plans.append("biped" if legs == 2 else "quadruped")
    elif not legs and not plans:
        plans.append("finned" if LimbKind.FIN in kinds else "legless")
    return tuple(plans)


def actions_of(plan: Body, tokens: Collection[str]) -> list[str]:
    """Actions that bodies of a plan do, of those that a prior knows: its `tokens`."""
    done = {action.label for action in ACTIONS.values() if plan in action.bodies}
    return [label for label in ACTION_LABELS if label in done and label in tokens]


def check_body(anatomy: Anatomy, action: str | None, tokens: Collection[str]) -> str | None:
    """A warning for a body that the tiny prior never saw, or never saw do this; None otherwise.

    Args:
        anatomy: Of the body.
        action: One of `ACTION_LABELS`; None where no action is named.
        tokens: Words that the prior was trained with.
    """
    plans = body_plans(anatomy)
    if not plans:
        legs = len(anatomy.legs)
        return (
            f"the tiny prior never saw a body with {legs} leg{'s' * (legs != 1)}: "
            f"its motion is a guess"
        )
    known = list(dict.fromkeys(label for plan in plans for label in actions_of(plan, tokens)))
    if action is None or action in known:
        return None
    said = ", ".join(label.replace("_", " ") for label in known)
    return (
        f"the tiny prior never saw a {' or '.join(plans)} body do '{action.replace('_', ' ')}': "
        f"its motion is a guess; such bodies do {said}"
    )


def suits(action: Action, anatomy: Anatomy) -> bool:
    """Whether a body does an action. What runs on four legs gallops, and what has wings flies."""
    plan = next(iter(body_plans(anatomy)), "biped")
    two_legged = action.alternates != "on two legs" or len(anatomy.legs) == 2
    return plan in action.bodies and two_legged


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
