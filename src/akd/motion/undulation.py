"""Undulating bodies, such as snakes and fish: joints of the midline, and sideways slip."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.rig.control import ControlPose, ControlRig
from akd.rig.roles.role import Part

_CENTRAL = (Part.SPINE, Part.NECK, Part.HEAD, Part.TAIL)
_LEVEL = 0.7
"""Cosine between up and the axis about which a joint that lies bends sideways, at least."""


@dataclass(frozen=True)
class Midline:
    """The joints of a body's midline that bend it sideways."""

    joints: Int[Tensor, "C"]
    """Indices of driven joints."""
    signs: Float[Tensor, "C"]
    """Sign of the abduction that turns the bone to the left."""
    place: Float[Tensor, "C"]
    """Position of each bone's middle ahead of the root, as a fraction of the midline's length."""
    before: Float[Tensor, "C"]
    """The same of its parent; 0 for the root."""

    @classmethod
    def of(cls, rig: ControlRig) -> Midline | None:
        """None if the midline has fewer than two joints that bend sideways."""
        up, _, forward = rig.root_axes
        along = (rig.pivots - rig.root_pivot) @ forward
        middle = along.clone()
        for joint in range(len(rig)):
            after = [k for k, parent in enumerate(rig.parents) if parent == joint]
            central = [k for k in after if rig.roles[k].part in _CENTRAL]
            if central:
                middle[joint] = 0.5 * (along[joint] + along[central[0]])
        level = (rig.axes[:, 1] @ up).abs() > _LEVEL
        chosen = [i for i, r in enumerate(rig.roles) if r.part in _CENTRAL and bool(level[i])]
        length = float(along.max() - along.min())
        if len(chosen) < 2 or not length > 0.0:
            return None
        above = [rig.parents[i] for i in chosen]
        before = torch.tensor([0.0 if p < 0 else float(middle[p]) for p in above])
        return cls(
            torch.tensor(chosen),
            torch.sign(rig.axes[chosen, 1] @ up),
            middle[chosen] / length,
            before / length,
        )


def slip(
    rig: ControlRig, pose: ControlPose
) -> tuple[Float[Tensor, "F S 3"], Float[Tensor, "F S 3"]]:
    """`sideways` of a motion of a control rig."""
    deltas = rig.deltas(pose)
    ones = torch.ones(len(rig), 1)
    points = torch.cat((rig.pivots, ones), 1).to(deltas)
    pivots = torch.einsum("tdij,dj->tdi", deltas[:, 3:], points)[..., :3]
    root = torch.cat((rig.root_pivot, ones[0])).to(deltas)
    pivots = torch.cat((pivots, (deltas[:, 2] @ root)[:, None, :3]), dim=1)  # -1 is the root
    line = midline_bones(rig)
    return sideways(pivots[:, [start for start, _ in line]], pivots[:, [end for _, end in line]])


def midline_bones(rig: ControlRig) -> list[tuple[int, int]]:
    """The bones of the midline, each from one control to another; -1 is the root."""
    return [(rig.parents[i], i) for i, role in enumerate(rig.roles) if role.part in _CENTRAL]


def sideways(
    starts: Float[Tensor, "*k T S 3"], ends: Float[Tensor, "*k T S 3"]
) -> tuple[Float[Tensor, "*k F S 3"], Float[Tensor, "*k F S 3"]]:
    """From frame to frame: how far the middle of each bone moves, metres, and the horizontal vector
    across the bone: of length one where it lies, zero where it is upright, as the neck of a cobra.
    """
    along = torch.nn.functional.normalize(ends - starts, dim=-1)
    x, _, z = along.unbind(-1)
    across = torch.stack((z, torch.zeros_like(x), -x), dim=-1)  # up x along
    middles = 0.5 * (starts + ends)
    return middles.diff(dim=-3), 0.5 * (across[..., 1:, :, :] + across[..., :-1, :, :])
