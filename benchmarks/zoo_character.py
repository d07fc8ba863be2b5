"""A creature of the zoo as a `Character` with the creature's own skeleton."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from akd.asset.asset import Asset, Mesh, MeshPart, Node, SkinRecord
from akd.rig.character import Character, load_character
from akd.zoo.creature import Creature


def as_character(creature: Creature) -> Character:
    """The creature as akd understands it once it is written to a file and read back.

    Joint for joint the skeleton is the creature's own, so motions of either fit the other.
    """
    rest, mesh = creature.skeleton.rest, creature.mesh
    nodes = [
        Node(
            name, parent, rest.translation[j].numpy(), rest.rotation[j].numpy(),
            rest.scale[j].numpy(),
        )
        for j, (name, parent) in enumerate(
            zip(creature.skeleton.names, creature.skeleton.parents, strict=True)
        )
    ]  # fmt: skip
    # The root rests at the origin, so the mesh may hang on it: no node is added.
    nodes[0] = replace(nodes[0], mesh=0, skin=0)
    skin = mesh.skin
    part = MeshPart(
        mesh.vertices.numpy(), mesh.faces.numpy(), joints=skin.bones.numpy(),
        weights=skin.weights.numpy(),
        colours=np.pad(mesh.colours.numpy(), ((0, 0), (0, 1)), constant_values=1.0),
    )  # fmt: skip
    record = SkinRecord(creature.name, skin.bone_joints.numpy(), skin.inverse_bind.numpy())
    asset = Asset(
        Path(f"{creature.name}.glb"), "glb", tuple(nodes), (Mesh(creature.name, (part,)),),
        skins=(record,), scene_roots=(0,),
    )  # fmt: skip
    return load_character(asset)
