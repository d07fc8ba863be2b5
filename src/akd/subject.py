"""`Subject`: a character that is ready to be animated, and what was odd on the way there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from akd.asset.asset import Asset, AssetError
from akd.asset.read import read_asset
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.motion.feet import leg_length
from akd.rig.autorig.rig import LOW_CONFIDENCE, rig_mesh
from akd.rig.character import Character, load_character
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.rig.roles import names
from akd.rig.roles.role import Role
from akd.rig.roles.role_file import correct_roles

_VERTICAL = 0.7
"""Left and right are above one another where they lie apart by this share along up."""


@dataclass(frozen=True)
class Subject:
    """Who is to move."""

    path: Path
    """The user's file."""
    character: Character
    rig: ControlRig
    notes: tuple[str, ...]
    """Lines for the user: how sure an automatic rig is, and what to check."""

    @property
    def leg_length(self) -> float:
        """Mean over legs, metres."""
        return leg_length(self.character, self.rig)


def load_subject(
    path: Path,
    *,
    rigged: Path,
    height: float | None = None,
    up: str = "y",
    template: str = "auto",
    roles: Mapping[str, Role] | None = None,
) -> Subject:
    """Read a file and make sure that there is a body in it which can be driven.

    A mesh without a skeleton gets one, written to `rigged` as a GLB; `template` is its body plan.
    `height` (metres) and `up` are for files whose units or axes are not to be believed, `roles` (by
    the joints' names) for joints that would be mistaken. Raises `AssetError`, one line, for what
    cannot be animated.
    """
    asset = read_asset(path)
    if not asset.meshes:
        raise AssetError(
            f"{path.name}: has no mesh to show to a video model"
            + ("; `akd rig` makes one around its Gaussians" if asset.splats is not None else "")
        )
    character = load_character(asset, height=height, up=up)
    notes: list[str] = []
    if _is_bare(asset, character):
        character, notes = _rig_automatically(path, character, rigged, template)
    elif asset.document is None:
        raise AssetError(
            f"{path.name}: a clip can only be added to a glTF file, and this is {asset.format}"
        )
    if roles:
        character = correct_roles(character, roles)
    rig = build_control_rig(character)
    if len(rig) < 1:
        count = int(sum(len(skin.joints) for skin in asset.skins))
        raise AssetError(
            f"{path.name}: must have at least 2 joints that move its mesh, got {count}; "
            f"`akd rig` makes a skeleton"
        )
    if not character.anatomy.legs:
        _check_upright(character, height=height, up=up)
    return Subject(path, character, rig, tuple(notes))


def _is_bare(asset: Asset, character: Character) -> bool:
    """No skin, and nothing in the nodes that would make a body."""
    return not asset.skins and not asset.clips and not character.anatomy.legs


def _rig_automatically(
    path: Path, character: Character, rigged: Path, template: str
) -> tuple[Character, list[str]]:
    """A skeleton for a bare mesh, and how sure it is."""
    mesh = character.mesh
    if mesh is None or not len(mesh.faces):
        raise AssetError(f"{path.name}: has no faces to make a skeleton for")
    try:
        found = rig_mesh(
            mesh.vertices.double().numpy(), mesh.faces.numpy(), mesh.colours.double().numpy(),
            template=template,
        )  # fmt: skip
    except ValueError as error:
        raise AssetError(f"{path.name}: {error}") from None
    extras = {"template": found.template, "confidence": round(found.confidence, 3)}
    rigged.parent.mkdir(parents=True, exist_ok=True)
    write_glb(build_document(found.mesh, found.skeleton, name=path.stem, extras=extras), rigged)
    doubt = " (low: see `akd rig`)" if found.confidence < LOW_CONFIDENCE else ""
    said = (
        f"{path.name}: has no skeleton; rigged as a {found.template} with "
        f"{len(found.skeleton)} joints, confidence {found.confidence:.2f}{doubt}"
    )
    return load_character(read_asset(rigged)), [said, *found.reasons, *found.warnings]


def _check_upright(character: Character, *, height: float | None, up: str) -> None:
    """Refuse a body that lies on its side, where it can be told from one that has no feet."""
    asset, name = character.asset, character.asset.path.name
    for other in (axis for axis in "xyz" if axis != up):
        turned = load_character(asset, height=height, up=other)
        if legs := len(turned.anatomy.legs):
            raise AssetError(
                f"{name}: lies on its side: with {up} up no foot is on the ground, with {other} up "
                f"it stands on {legs} legs; give --up {other}"
            )
    body = character.anatomy.body
    pairs = names.mirror_pairs(character.skeleton.names, sorted(body.parents))
    places = character.skeleton.forward(character.bind)[:, :3, 3].double().numpy()
    gaps = [places[a] - places[b] for a, b in pairs]
    heights = [abs(gap[1]) / max(float(np.linalg.norm(gap)), 1e-12) for gap in gaps]
    if heights and float(np.median(heights)) > _VERTICAL:
        raise AssetError(
            f"{name}: lies on its side: its left and right joints are above one another; turn it "
            f"upright in its file"
        )
