"""`StressRig`: a body whose joints are known, to be exported the way other tools would.

Positions are those of the bind pose in metres, Y up. Changes of structure are in
`stress_structures`, names in `stress_names`; `to_asset` writes what a reader of files would see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial.transform import Rotation

from akd.asset.asset import Asset, Mesh, MeshPart, Node, SkinRecord
from akd.rig.character import Character
from akd.zoo.creature import Creature

SIDES = ("left", "right")
LIMB_PARTS = ("girdle", "upper", "lower", "cannon", "foot", "hand", "toes")
Array = np.ndarray


@dataclass(frozen=True)
class Joint:
    """A joint by what it is; `name` is what the file calls it."""

    key: str
    """Unique; the joint's own name in the zoo."""
    parent: str | None
    place: Float[np.ndarray, "3"]
    part: str
    """`upper`, `foot`, `spine`, or of joints that an exporter adds: `twist`, `end`, `ik`, ..."""
    side: str = ""
    limb: str = ""
    number: int = 0
    is_blank: bool = False
    """It moves no skin and was written with an identity for inverse bind."""
    holds: bool = False
    """It is the control of a bone that hangs on it."""
    in_skin: bool = True
    """The file's skin names it."""
    name: str = ""


@dataclass(frozen=True)
class Piece:
    """A rigid mesh of its own: a weapon on a joint, or a stand that hangs on none."""

    name: str
    joint: str | None
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]


@dataclass(frozen=True)
class Armature:
    """How the scene holds the skeleton: metres of a unit of its data, and whether that is Z-up."""

    scale: float = 1.0
    z_up: bool = False
    holders: tuple[str, ...] = ("Armature",)
    """Nodes above the joints, outermost first; the innermost is turned and scaled."""
    mesh_inside: bool = True
    """The node of the mesh hangs under the same holder."""
    parts: int = 1
    """Meshes that the surface is divided into."""
    skins: int = 1
    """Each with the joints that its meshes need."""


@dataclass(frozen=True)
class StressRig:
    """A body, and how it is written."""

    species: str
    joints: tuple[Joint, ...]
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    weights: Float[np.ndarray, "V J"]
    """A column a joint."""
    pieces: tuple[Piece, ...] = ()
    armature: Armature = field(default_factory=Armature)

    def __post_init__(self) -> None:
        assert self.weights.shape == (len(self.vertices), len(self.joints))
        np.testing.assert_allclose(self.weights.sum(axis=1), 1.0, atol=1e-5)

    def index(self, key: str) -> int:
        """Of a joint."""
        return next(i for i, j in enumerate(self.joints) if j.key == key)

    def joint(self, key: str) -> Joint:
        """By its key."""
        return self.joints[self.index(key)]

    def has(self, key: str) -> bool:
        """Whether there is such a joint."""
        return any(j.key == key for j in self.joints)

    def children(self, key: str) -> list[Joint]:
        """Joints that hang on one."""
        return [j for j in self.joints if j.parent == key]

    def subtree(self, key: str) -> list[str]:
        """A joint and all below it."""
        return [key, *(k for c in self.children(key) for k in self.subtree(c.key))]

    def chain(self, side: str, limb: str, number: int = 0) -> list[Joint]:
        """The joints of a limb, from the body outwards."""
        return [
            j for j in self.joints
            if (j.side, j.limb, j.number) == (side, limb, number) and j.part in LIMB_PARTS
        ]  # fmt: skip

    def limbs(self) -> list[tuple[str, str, int]]:
        """(side, kind, number) of every limb."""
        return list(
            dict.fromkeys(
                (j.side, j.limb, j.number) for j in self.joints if j.limb and j.part in LIMB_PARTS
            )
        )

    def changed(self, key: str, **values: object) -> StressRig:
        """With other values for one joint."""
        joints = tuple(replace(j, **values) if j.key == key else j for j in self.joints)
        return replace(self, joints=joints)

    def added(self, *joints: Joint) -> StressRig:
        """With joints that move nothing yet."""
        columns = np.zeros((len(self.vertices), len(joints)))
        return replace(
            self, joints=(*self.joints, *joints), weights=np.column_stack((self.weights, columns))
        )

    def moved(self, source: str, target: str, share: Float[np.ndarray, "V"] | float) -> StressRig:
        """Give a share of one joint's weights to another."""
        weights = self.weights.copy()
        taken = weights[:, self.index(source)] * share
        weights[:, self.index(source)] -= taken
        weights[:, self.index(target)] += taken
        return replace(self, weights=weights)

    def without(self, key: str) -> StressRig:
        """Without a joint: its weights and children go to its parent."""
        joint = self.joint(key)
        assert joint.parent is not None
        rig, column = self.moved(key, joint.parent, 1.0), self.index(key)
        joints = tuple(
            replace(j, parent=joint.parent) if j.parent == key else j
            for j in rig.joints
            if j.key != key
        )
        return replace(rig, joints=joints, weights=np.delete(rig.weights, column, axis=1))

    def with_skin(
        self, vertices: Array, faces: Array, weights_by_key: dict[str, Array]
    ) -> StressRig:
        """With more surface: weights of the new vertices by joint."""
        weights = np.zeros((len(vertices), len(self.joints)))
        for key, column in weights_by_key.items():
            weights[:, self.index(key)] = column
        return replace(
            self,
            vertices=np.concatenate((self.vertices, vertices)),
            faces=np.concatenate((self.faces, faces + len(self.vertices))),
            weights=np.concatenate((self.weights, weights)),
        )

    def turned(self, turns: dict[str, Rotation]) -> StressRig:
        """Bound in another pose: each named joint and all below it turned about the joint."""
        world = {j.key: np.eye(4) for j in self.joints}
        for key, rotation in turns.items():
            pivot = (world[key] @ [*self.joint(key).place, 1.0])[:3]
            turn = np.eye(4)
            turn[:3, :3] = rotation.as_matrix()
            turn[:3, 3] = pivot - turn[:3, :3] @ pivot
            for k in self.subtree(key):
                world[k] = turn @ world[k]
        maps = np.stack([world[j.key] for j in self.joints])
        blended = np.einsum("vj,jab->vab", self.weights, maps)
        points = np.einsum(
            "vab,vb->va", blended, np.pad(self.vertices, ((0, 0), (0, 1)), constant_values=1.0)
        )
        joints = tuple(
            replace(j, place=(m @ [*j.place, 1.0])[:3])
            for j, m in zip(self.joints, maps, strict=True)
        )
        return replace(self, joints=joints, vertices=points[:, :3])


def from_creature(creature: Creature) -> StressRig:
    """A creature of the zoo; its joints are named by what they are."""
    names, parents = creature.skeleton.names, creature.skeleton.parents
    world = creature.skeleton.forward(creature.skeleton.rest)[:, :3, 3].double().numpy()
    joints = tuple(
        _from_name(name, None if parents[i] < 0 else names[parents[i]], world[i])
        for i, name in enumerate(names)
    )
    skin = creature.mesh.skin
    weights = np.zeros((len(creature.mesh.vertices), len(names)))
    rows = np.arange(len(weights))[:, None]
    np.add.at(weights, (rows, skin.bone_joints[skin.bones].numpy()), skin.weights.double().numpy())
    return StressRig(
        creature.name,
        joints,
        creature.mesh.vertices.double().numpy(),
        creature.mesh.faces.numpy(),
        weights / weights.sum(axis=1, keepdims=True),
    )


def _from_name(name: str, parent: str | None, place: Array) -> Joint:
    """`left_hind_upper`, `left_leg2_foot`, `left_ear`, `spine_2`, `jaw`."""
    words = re.sub(r"(\d+)", r"_\1", name).split("_")
    number = next((int(w) for w in words if w.isdigit()), 0)
    words = [w for w in words if w and not w.isdigit()]
    side = words.pop(0) if words[0] in SIDES else ""
    limb = words.pop(0) if side and len(words) > 1 else ""
    part = {"shoulder": "girdle"}.get(words[0], words[0])
    return Joint(name, parent, place, part, side, limb, number, name=name)


def from_character(character: Character) -> StressRig:
    """A file that is read right: the joints of its body, by their roles, under a new root."""
    anatomy, mesh = character.anatomy, character.body_mesh
    assert mesh is not None
    order = anatomy.body.subtree(anatomy.body.root)
    places = character.skeleton.forward(character.bind)[:, :3, 3].double().numpy()
    keys = {j: _key(character, j) for j in order}
    joints = [Joint("root", None, np.zeros(3), "root", name="root")]
    for j in order:
        role, above = anatomy.roles[j], anatomy.body.parents[j]
        limb = role.limb.value if role.limb else ""
        is_counted = limb == "mid" or not limb
        number = role.number if is_counted else 0
        joints.append(
            Joint(keys[j], keys.get(above, "root"), places[j], role.part.value, role.side.value,
                  limb, number, name=character.skeleton.names[j])
        )  # fmt: skip
    weights = np.zeros((len(mesh.vertices), len(joints)))
    column = {j: 1 + i for i, j in enumerate(order)}
    owner = {j: _carrier(character, j, column) for j in range(len(character.skeleton))}
    bones = mesh.skin.bone_joints[mesh.skin.bones].numpy()
    rows = np.arange(len(weights))[:, None]
    np.add.at(
        weights, (rows, np.vectorize(owner.__getitem__)(bones)), mesh.skin.weights.double().numpy()
    )
    weights /= weights.sum(axis=1, keepdims=True)
    vertices, faces = mesh.vertices.double().numpy(), mesh.faces.numpy()
    return StressRig(character.asset.path.stem, tuple(joints), vertices, faces, weights)


def _key(character: Character, joint: int) -> str:
    role = character.anatomy.roles[joint]
    if role.part.value == "pelvis":
        return "pelvis"
    words = str(role).replace(" ", "_")
    same = [j for j, r in enumerate(character.anatomy.roles) if r == role]
    return words if len(same) == 1 else f"{words}_{same.index(joint)}"


def _carrier(character: Character, joint: int, column: dict[int, int]) -> int:
    """Column of the joint of the body that moves a node."""
    for above in (joint, *character.skeleton.ancestors(joint)):
        if above in column:
            return column[above]
    return 1


def to_asset(rig: StressRig) -> Asset:
    """The records of a file that holds the rig."""
    arm = rig.armature
    turn = Rotation.from_euler("x", -90.0 if arm.z_up else 0.0, degrees=True)
    data_from_world = turn.inv().as_matrix() / arm.scale
    nodes: list[Node] = []
    for depth, name in enumerate(arm.holders):
        is_last = depth == len(arm.holders) - 1
        quaternion = np.roll(turn.as_quat(), 1) if is_last else np.array([1.0, 0.0, 0.0, 0.0])
        nodes.append(
            Node(
                name, depth - 1, np.zeros(3), quaternion, np.full(3, arm.scale if is_last else 1.0)
            )
        )
    holder, first = len(nodes) - 1, len(nodes)
    row = {j.key: first + i for i, j in enumerate(rig.joints)}
    local = _frames(rig, data_from_world)
    for joint in rig.joints:
        above = local[joint.parent] if joint.parent else np.eye(4)
        nodes.append(
            _node(
                joint.name,
                row[joint.parent] if joint.parent else holder,
                np.linalg.inv(above) @ local[joint.key],
            )
        )
    meshes: list[Mesh] = []
    skins: list[SkinRecord] = []
    for k, faces in enumerate(_divided(rig) if len(rig.faces) else []):
        used = np.unique(faces)
        number = np.zeros(len(rig.vertices), dtype=np.int64)
        number[used] = np.arange(len(used))
        weights = rig.weights[used]
        if k < arm.skins:
            moving = weights.any(axis=0) if arm.skins > 1 else np.ones(len(rig.joints), dtype=bool)
            listed = [i for i, j in enumerate(rig.joints) if moving[i] and j.in_skin]
            binds = [
                np.eye(4) if rig.joints[i].is_blank else np.linalg.inv(local[rig.joints[i].key])
                for i in listed
            ]
            skins.append(
                SkinRecord(f"skin {k}", np.array([first + i for i in listed]), np.stack(binds))
            )
        skin = min(k, arm.skins - 1)
        column = {int(n): c for c, n in enumerate(skins[skin].joints)}
        strongest = np.argsort(-weights, axis=1)[:, :4]
        kept = np.take_along_axis(weights, strongest, axis=1)
        joints = np.vectorize(lambda i, c=column: c.get(first + int(i), 0))(strongest)
        part = MeshPart(
            (rig.vertices[used] @ data_from_world.T).astype(np.float32), number[faces],
            joints=joints, weights=(kept / kept.sum(axis=1, keepdims=True)).astype(np.float32),
        )  # fmt: skip
        meshes.append(Mesh(f"mesh {k}", (part,)))
        nodes.append(
            replace(
                _node(
                    f"Object_{k}",
                    holder if arm.mesh_inside else 0 if len(arm.holders) > 1 else -1,
                    np.eye(4),
                ),
                mesh=k,
                skin=skin,
            )
        )
    for piece in rig.pieces:
        world = np.eye(4) if piece.joint is None else local[piece.joint]
        points = np.pad(piece.vertices @ data_from_world.T, ((0, 0), (0, 1)), constant_values=1.0)
        points = points @ np.linalg.inv(world).T
        meshes.append(Mesh(piece.name, (MeshPart(points[:, :3].astype(np.float32), piece.faces),)))
        parent = holder if piece.joint is None else row[piece.joint]
        nodes.append(replace(_node(piece.name, parent, np.eye(4)), mesh=len(meshes) - 1))
    roots = tuple(i for i, n in enumerate(nodes) if n.parent < 0)
    return Asset(
        Path("model.glb"), "glb", tuple(nodes), tuple(meshes), skins=tuple(skins), scene_roots=roots
    )


def _frames(rig: StressRig, data_from_world: Array) -> dict[str, Array]:
    """Of every joint in the armature's space: Y along the bone, as Blender has it."""
    frames = {}
    for joint in rig.joints:
        ends = [c.place for c in rig.children(joint.key)]
        along = np.mean(ends, axis=0) - joint.place if ends else np.zeros(3)
        along = data_from_world @ along
        length = float(np.linalg.norm(along))
        frame = np.eye(4)
        if length > 1e-9:
            frame[:3, :3] = Rotation.align_vectors([along / length], [[0.0, 1.0, 0.0]])[
                0
            ].as_matrix()
        frame[:3, 3] = data_from_world @ joint.place
        frames[joint.key] = frame
    return frames


def _node(name: str, parent: int, matrix: Array) -> Node:
    quaternion = np.roll(Rotation.from_matrix(matrix[:3, :3]).as_quat(), 1)
    return Node(name, parent, matrix[:3, 3].copy(), quaternion, np.ones(3))


def _divided(rig: StressRig) -> list[Array]:
    """Faces of each mesh: by height of their middle, as head, body and trousers are."""
    if rig.armature.parts == 1:
        return [rig.faces]
    height = rig.vertices[rig.faces].mean(axis=1)[:, 1]
    edges = np.quantile(height, np.linspace(0.0, 1.0, rig.armature.parts + 1)[1:-1])
    part = np.searchsorted(edges, height)
    return [rig.faces[part == k] for k in range(rig.armature.parts)]
