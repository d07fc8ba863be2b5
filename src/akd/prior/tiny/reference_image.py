"""The reference image: the character in its neutral pose, as the tiny prior is shown it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.prior.tiny.film import SCENE, cameras_of
from akd.prior.tiny.settings import TinySettings
from akd.rig.character import Character
from akd.rig.neutral import find_neutral
from akd.scene.compose import render_scene
from akd.scene.follow import THREE_QUARTER, View, bounding_boxes
from akd.scene.roles import role_colours
from akd.splat.surface import surface_splats


def reference_image_of(
    character: Character, tiny: TinySettings, *, view: View = THREE_QUARTER
) -> Float[Tensor, "H W 3"]:
    """The reference image of a user's character, sRGB 0..1, its feet put on the ground."""
    if character.mesh is None:
        raise ValueError("a character without a mesh has no reference image")
    skin = character.mesh.skin
    cloud = surface_splats(character.mesh, 5000)
    neutral, _ = find_neutral(
        character.asset, character.skeleton, character.bind, character.anatomy, character.units
    )
    bones = skin.bone_transforms(character.skeleton.forward(neutral))
    low, high = bounding_boxes(cloud, bones[None])
    drop = torch.eye(4)
    drop[1, 3] = -low[0, 1]
    low, high = low + drop[:3, 3], high + drop[:3, 3]
    _, camera = cameras_of(
        low[None], high[None], (low[0], high[0]), [view], forward=character.forward,
        size=(tiny.width, tiny.height),
    )  # fmt: skip
    with torch.no_grad():
        return render_scene(
            cloud, (drop @ bones)[None], camera, settings=SCENE, body_height=character.height,
            bone_colours=role_colours(character.anatomy.roles)[skin.bone_joints],
        )[0]  # fmt: skip
