"""Which bodies the tiny prior has seen, and what it has seen them do."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from akd.motion.actions import ACTION_LABELS, ACTIONS, Body
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

PLANS: tuple[Body, ...] = get_args(Body)
"""Body plans of its training videos."""


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
