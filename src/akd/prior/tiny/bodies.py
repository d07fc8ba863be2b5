"""Which bodies the tiny prior has seen."""

from __future__ import annotations

from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind


def check_body(anatomy: Anatomy) -> str | None:
    """Raise `ValueError` for a body that the tiny prior never saw; return a warning, or None.

    It was trained on animals with four legs, people, and two-legged dinosaurs and birds.
    """
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
