"""Which bodies the tiny prior has seen."""

from __future__ import annotations

from collections.abc import Collection

from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

OTHER_PLANS = frozenset({"fish", "snake", "spider"})
"""Words of which a prior knows some only if it has seen bodies without two or four legs."""


def check_body(anatomy: Anatomy, tokens: Collection[str]) -> str | None:
    """Raise `ValueError` for a body that the tiny prior never saw; return a warning, or None.

    `tokens` are the words it was trained with. The first one saw animals with four legs, people,
    and two-legged dinosaurs and birds.
    """
    if not OTHER_PLANS.isdisjoint(tokens):
        return None
    legs = len(anatomy.legs)
    if legs not in (2, 4):
        raise ValueError(
            f"the tiny prior knows bodies with two or four legs, this one has {legs}; "
            f"other bodies need a large prior (`akd prior list`)"
        )
    strange = sorted(
        {limb.kind.value for limb in anatomy.limbs if limb.kind in (LimbKind.WING, LimbKind.FIN)}
    )
    if strange:
        return f"the tiny prior never saw {' or '.join(strange)}s: they will hardly move"
    return None
