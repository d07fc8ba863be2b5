"""What exporters and artists do to a skeleton: changes after which its limbs are still known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.stress_rig import SIDES, Armature, Array, Joint, Piece, StressRig

Change = Callable[[StressRig], StressRig]
SEGMENTS = ("upper", "lower")


def unchanged(rig: StressRig) -> StressRig:
    """The rig itself."""
    return rig


def chained(*changes: Change) -> Change:
    """One after the other."""

    def apply(rig: StressRig) -> StressRig:
        for change in changes:
            rig = change(rig)
        return rig

    return apply


def written(**values: object) -> Change:
    """In another armature."""
    return lambda rig: replace(rig, armature=replace(rig.armature, **values))


def sketchfab(rig: StressRig) -> StressRig:
    """Z-up centimetres under the nodes that Sketchfab's converter adds."""
    holders = ("Sketchfab_model", "root", "GLTF_SceneRootNode", "Armature_70")
    return replace(rig, armature=Armature(0.01, True, holders))


def twists(inline: bool, count: int = 1) -> Change:
    """Joints along upper and lower segments that take the far part of their skin: in the chain, as
    Daz has them, or beside it, as Unreal has."""

    def apply(rig: StressRig) -> StressRig:
        for joint in rig.joints:
            if joint.part not in SEGMENTS or not joint.limb:
                continue
            after = [c for c in rig.children(joint.key) if c.limb == joint.limb]
            if not after:
                continue
            above = joint.key
            for k in range(1, count + 1):
                at = k / (count + 1.0)
                key = f"{joint.key}_twist_{k}"
                place = (1.0 - at) * joint.place + at * after[0].place
                parent = above if inline else joint.key
                rig = rig.added(
                    replace(joint, key=key, parent=parent, place=place, part=f"{joint.part}_twist",
                            name=key)
                )  # fmt: skip
                rig = rig.moved(above, key, beyond(rig, joint.place, after[0].place, at))
                above = key
            if inline:
                rig = rig.changed(after[0].key, parent=above)
        return rig

    return apply


def beyond(rig: StressRig, start: Array, end: Array, at: float) -> Array:
    """How far each vertex is past a place on a segment, from 0 to 1 within a fifth of it."""
    along = end - start
    t = (rig.vertices - start) @ along / max(float(along @ along), 1e-12)
    return np.clip((t - at) / 0.2 + 0.5, 0.0, 1.0)


def leaf_ends(rig: StressRig) -> StressRig:
    """An end node after the last joint of every chain, as Blender's exporter writes them."""
    for joint in rig.joints:
        if rig.children(joint.key) or joint.parent is None:
            continue
        away = joint.place - rig.joint(joint.parent).place
        rig = rig.added(
            Joint(f"{joint.key}_end", joint.key, joint.place + 0.5 * away, "end", joint.side,
                  name=f"{joint.key}_end", in_skin=False)
        )  # fmt: skip
    return rig


def ik_targets(rig: StressRig) -> StressRig:
    """Targets at feet and hands, poles before knees and behind elbows: roots of their own."""
    for joint in rig.joints:
        ahead = np.array([0.0, 0.0, 0.3 if joint.limb != "arm" else -0.3])
        if joint.limb and joint.part in ("foot", "hand"):
            rig = rig.added(
                replace(joint, key=f"ik_{joint.key}", parent=None, part="ik", is_blank=True)
            )
        elif joint.limb and joint.part == "lower":
            rig = rig.added(
                replace(joint, key=f"pole_{joint.key}", parent=None, part="pole", is_blank=True,
                        place=joint.place + ahead)
            )  # fmt: skip
    return rig


def ik_feet(rig: StressRig) -> StressRig:
    """Feet on roots of their own: the leg follows them."""
    for joint in rig.joints:
        if joint.part == "foot":
            rig = rig.changed(joint.key, parent=None)
    return rig


def flat(rig: StressRig) -> StressRig:
    """All joints under the root."""
    joints = tuple(replace(j, parent=None if j.parent is None else "root") for j in rig.joints)
    return replace(rig, joints=joints)


def control_chains(hang: str) -> Change:
    """A second skeleton of joints that move no skin, with identities for inverse binds.

    `hang` is `each` (every joint hangs on its control), `tops` (limbs hang on controls, as in
    Rigify), or `beside` (two trees).
    """

    def apply(rig: StressRig) -> StressRig:
        originals = [j for j in rig.joints if j.part != "root"]
        controls = [
            replace(j, key=f"ctrl_{j.key}", part=f"{j.part}_control", is_blank=True,
                    parent="root" if j.parent == "root" else f"ctrl_{j.parent}",
                    holds=hang == "each")
            for j in originals
        ]  # fmt: skip
        extra = [
            replace(
                c, key=f"mch_{c.key}", part=c.part.replace("control", "mechanism"), parent=c.key
            )
            for c in controls
            if c.limb
        ]
        rig = rig.added(*controls, *extra)
        for joint in originals:
            is_top = bool(joint.limb) and rig.joint(joint.parent or "").limb != joint.limb
            if hang == "each" or (hang == "tops" and is_top):
                on = f"ctrl_{joint.key}" if hang == "each" else f"ctrl_{joint.parent}"
                rig = rig.changed(joint.key, parent=on)
        return rig

    return apply


def one_joint_limbs(rig: StressRig) -> StressRig:
    """Every limb on its first joint, as block figures have it."""
    for limb in rig.limbs():
        for joint in rig.chain(*limb)[:0:-1]:
            rig = rig.without(joint.key)
    return rig


def two_joint_limbs(rig: StressRig) -> StressRig:
    """Upper and lower segment alone: no girdles, feet or hands."""
    for limb in rig.limbs():
        for joint in rig.chain(*limb):
            if joint.part in ("girdle", "foot", "toes", "hand"):
                rig = rig.without(joint.key)
    return rig


def without(*parts: str) -> Change:
    """Without the joints of some parts."""

    def apply(rig: StressRig) -> StressRig:
        for joint in rig.joints:
            if joint.part in parts and joint.parent is not None:
                rig = rig.without(joint.key)
        return rig

    return apply


def spine_of(count: int) -> Change:
    """Between pelvis and neck (or head)."""

    def apply(rig: StressRig) -> StressRig:
        spine = [j for j in rig.joints if j.part == "spine"]
        while len(spine) > count:
            rig = rig.without(spine.pop(len(spine) // 2).key)
        while spine and len(spine) < count:
            last = spine[-1]
            after = next(
                (c for c in rig.children(last.key) if not c.limb and c.part in ("neck", "head")),
                None,
            )
            if after is None:
                break
            key = f"spine_{len(spine) + 1}"
            place = 0.5 * (last.place + after.place)
            rig = rig.added(
                replace(
                    last, key=key, parent=last.key, place=place, number=len(spine) + 1, name=key
                )
            )
            rig = rig.moved(last.key, key, beyond(rig, last.place, after.place, 0.5))
            rig = rig.changed(after.key, parent=key)
            for child in rig.children(last.key):
                if child.limb:
                    rig = rig.changed(child.key, parent=key)
            spine.append(rig.joint(key))
        return rig

    return apply


def arms_at(degrees: float) -> Change:
    """Bound with the arms so far from hanging: 45 for an A-pose, 90 for a T-pose."""

    def apply(rig: StressRig) -> StressRig:
        turns = {}
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            chain = [j for j in rig.chain(side, "arm") if j.part != "girdle"]
            if len(chain) < 2:
                continue
            way = chain[-1].place - chain[0].place
            now = np.degrees(np.arctan2(abs(way[0]), -way[1]))
            turns[chain[0].key] = Rotation.from_euler("z", sign * (degrees - now), degrees=True)
        return rig.turned(turns) if turns else rig

    return apply


def facing(degrees: float) -> Change:
    """Turned about the vertical."""

    def apply(rig: StressRig) -> StressRig:
        turn = Rotation.from_euler("y", degrees, degrees=True)
        joints = tuple(replace(j, place=turn.apply(j.place)) for j in rig.joints)
        pieces = tuple(replace(p, vertices=turn.apply(p.vertices)) for p in rig.pieces)
        return replace(rig, joints=joints, vertices=turn.apply(rig.vertices), pieces=pieces)

    return apply


def biped_links(rig: StressRig) -> StressRig:
    """Legs on the first joint of the spine and collar bones on the neck, as 3ds Max links them."""
    for joint in rig.joints:
        is_top = bool(joint.limb) and rig.joint(joint.parent or "").limb != joint.limb
        if is_top and joint.limb in ("leg", "hind") and rig.has("spine_1"):
            rig = rig.changed(joint.key, parent="spine_1")
        elif is_top and joint.limb in ("arm", "fore", "wing") and rig.has("neck_1"):
            rig = rig.changed(joint.key, parent="neck_1")
    return rig


def hip_above_pelvis(rig: StressRig) -> StressRig:
    """A joint without skin that holds pelvis and spine as brothers, as Daz has it."""
    pelvis = rig.joint("pelvis")
    rig = rig.added(replace(pelvis, key="hip", part="hip", parent=pelvis.parent))
    rig = rig.changed("pelvis", parent="hip")
    for child in rig.children("pelvis"):
        if child.part == "spine":
            rig = rig.changed(child.key, parent="hip")
    return rig


def rested_elsewhere(rig: StressRig) -> StressRig:
    """A root that carries a little skin everywhere, as careless weight painting leaves it."""
    return rig.moved("pelvis", "root", 0.05)


def strand(
    rig: StressRig, key: str, parent: str, part: str, places: Array, width: float, side: str = ""
) -> StressRig:
    """A chain of joints with a flat strip of skin along it."""
    above = parent
    names = []
    for k, place in enumerate(places[:-1]):
        name = f"{key}_{k + 1}"
        rig = rig.added(Joint(name, above, place, part, side, number=k + 1, name=name))
        names.append(name)
        above = name
    across = np.array([width, 0.0, 0.0])
    steps = 4 * (len(places) - 1) + 1
    t = np.linspace(0.0, len(places) - 1.0, steps)
    spine = np.stack([np.interp(t, np.arange(len(places)), places[:, a]) for a in range(3)], axis=1)
    depth = np.array([0.0, 0.0, 0.3 * width])
    ring = np.stack([spine - across, spine - depth, spine + across, spine + depth], axis=1)
    faces = [
        f
        for s in range(steps - 1)
        for c in range(4)
        for a, b, d, e in [(4 * s + c, 4 * s + (c + 1) % 4, 4 * s + 4 + c, 4 * s + 4 + (c + 1) % 4)]
        for f in ((a, b, d), (b, e, d))
    ]
    owner = np.repeat(np.minimum(t.astype(int), len(names) - 1), 4)
    columns = {n: (owner == k).astype(float) for k, n in enumerate(names)}
    return rig.with_skin(ring.reshape(-1, 3), np.array(faces), columns)


def _height(rig: StressRig) -> float:
    return float(np.ptp(rig.vertices[:, 1]))


def cape(rig: StressRig) -> StressRig:
    """A cape from the last joint of the spine almost to the ground."""
    top = max((j for j in rig.joints if j.part == "spine"), key=lambda j: j.place[1])
    h = _height(rig)
    start = top.place + h * np.array([0.0, 0.05, -0.12])
    places = np.linspace(start, [0.0, 0.03 * h, start[2] - 0.1 * h], 6)
    return strand(rig, "cape", top.key, "cape", places, 0.15 * h)


def hair(rig: StressRig) -> StressRig:
    """Two tails of hair down to the hips, and one behind."""
    head, h = rig.joint("head").place, _height(rig)
    for key, side, x in (
        ("hair_left", "left", 1.0),
        ("hair_right", "right", -1.0),
        ("hair", "", 0.0),
    ):
        start = head + h * np.array([0.06 * x, 0.06, -0.05])
        end = start + h * np.array([0.1 * x, -0.4, -0.12])
        rig = strand(rig, key, "head", "hair", np.linspace(start, end, 5), 0.03 * h, side)
    return rig


def skirt(rig: StressRig) -> StressRig:
    """Six chains around the hips down to the knees."""
    pelvis, h = rig.joint("pelvis").place, _height(rig)
    for k, angle in enumerate(np.radians([0.0, 60.0, 120.0, 180.0, 240.0, 300.0])):
        out = np.array([np.sin(angle), 0.0, np.cos(angle)])
        start, end = pelvis + 0.1 * h * out, pelvis + 0.22 * h * out - [0.0, 0.28 * h, 0.0]
        side = "left" if out[0] > 0.1 else "right" if out[0] < -0.1 else ""
        rig = strand(
            rig, f"skirt_{k}", "pelvis", "skirt", np.linspace(start, end, 4), 0.08 * h, side
        )
    return rig


def horns(rig: StressRig) -> StressRig:
    """Two on the head, as long as a forearm; as joints also the ears of a rabbit."""
    head, h = rig.joint("head").place, _height(rig)
    for side, x in zip(SIDES, (1.0, -1.0), strict=True):
        start = head + h * np.array([0.05 * x, 0.1, 0.0])
        end = start + h * np.array([0.08 * x, 0.22, -0.03])
        rig = strand(
            rig, f"horn_{side}", "head", "horn", np.linspace(start, end, 3), 0.025 * h, side
        )
    return rig


def tail(rig: StressRig) -> StressRig:
    """Behind the pelvis, nearly to the ground."""
    start, h = rig.joint("pelvis").place, _height(rig)
    end = np.array([0.0, 0.08 * h, start[2] - 0.45 * h])
    return strand(rig, "tail", "pelvis", "tail", np.linspace(start, end, 7), 0.03 * h)


def _hands(rig: StressRig) -> list[Joint]:
    """Of people: arms with a collar bone."""
    if not any(j.part == "girdle" and j.limb == "arm" for j in rig.joints):
        return []
    return [j for j in rig.joints if j.part == "hand" and j.limb == "arm"]


def fingers(rig: StressRig) -> StressRig:
    """Five chains of three joints in every hand, which take most of its skin."""
    for hand in _hands(rig):
        own = rig.weights[:, rig.index(hand.key)] > 0.5
        if not own.any() or hand.parent is None:
            continue
        points = rig.vertices[own] - hand.place
        along = points.mean(axis=0) / np.linalg.norm(points.mean(axis=0))
        reach = float((points @ along).max())
        thin = np.linalg.eigh(np.cov(points.T))[1]
        across = thin[:, int(np.argmax([abs(v @ along) < 0.7 for v in thin.T[::-1]]))]
        across = np.cross(along, np.cross(across, along))
        across /= np.linalg.norm(across)
        lateral = (rig.vertices - hand.place) @ across
        edges = np.quantile(lateral[own], [0.2, 0.4, 0.6, 0.8])
        finger = np.searchsorted(edges, lateral)
        for f in range(5):
            above, at = hand.key, float(np.median(lateral[own & (finger == f)]))
            for k, t in enumerate((0.45, 0.65, 0.85)):
                key = f"{hand.key}_finger_{f}_{k}"
                place = hand.place + t * reach * along + at * across
                rig = rig.added(
                    Joint(key, above, place, f"finger{f}", hand.side, number=k + 1, name=key)
                )
                share = beyond(rig, hand.place, hand.place + reach * along, t) * (finger == f)
                rig = rig.moved(above, key, share)
                above = key
    return rig


def face_bones(rig: StressRig) -> StressRig:
    """Jaw, eyes and brows: small patches of the head."""
    head = rig.joint("head")
    own = rig.weights[:, rig.index("head")] > 0.5
    points = rig.vertices[own]
    low, high = points.min(axis=0), points.max(axis=0)
    for part, x, y in (
        ("jaw", 0.5, 0.2),
        ("eye", 0.75, 0.6),
        ("eye", 0.25, 0.6),
        ("brow", 0.75, 0.75),
        ("brow", 0.25, 0.75),
    ):
        place = low + (high - low) * [x, y, 0.85]
        side = "" if x == 0.5 else "left" if x > 0.5 else "right"
        key = f"face_{part}_{side}"
        rig = rig.added(Joint(key, head.key, place, part, side, name=key))
        near = np.linalg.norm(rig.vertices - place, axis=1) < 0.18 * (high - low)[1]
        rig = rig.moved("head", key, near.astype(float))
    return rig


def _box(low: Array, high: Array) -> tuple[Array, Array]:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]
    return low + corners * (high - low), np.array(faces)


def weapons(how: str) -> Change:
    """A sword longer than a leg and a shield: `rigid` pieces in slots, or `skinned` to joints."""

    def apply(rig: StressRig) -> StressRig:
        h = _height(rig)
        for side, part, low, high in (
            ("right", "sword", (-0.01, -0.65, -0.02), (0.01, 0.15, 0.02)),
            ("left", "shield", (-0.02, -0.2, -0.2), (0.02, 0.2, 0.2)),
        ):
            hand = next((j for j in _hands(rig) if j.side == side), None)
            if hand is None:
                continue
            key = f"{part}_{side}"
            vertices, faces = _box(hand.place + h * np.array(low), hand.place + h * np.array(high))
            if how == "rigid":
                rig = rig.added(
                    Joint(key, hand.key, hand.place, part, side, in_skin=False, name=key)
                )
                rig = replace(rig, pieces=(*rig.pieces, Piece(part, key, vertices, faces)))
            else:
                rig = rig.added(Joint(key, hand.key, hand.place, part, side, name=key))
                rig = rig.with_skin(vertices, faces, {key: np.ones(len(vertices))})
        return rig

    return apply


def pedestal(rig: StressRig) -> StressRig:
    """On a stand that belongs to the scene, as in a portfolio."""
    h = _height(rig)
    reach = 1.2 * float(np.abs(rig.vertices[:, [0, 2]]).max())
    low, high = np.array([-reach, -0.08 * h, -reach]), np.array([reach, 0.0, reach])
    return replace(rig, pieces=(*rig.pieces, Piece("Plane", None, *_box(low, high))))


def clothes(rig: StressRig) -> StressRig:
    """A second surface over the trunk, with the weights of the first."""
    middle = [i for i, j in enumerate(rig.joints) if not j.limb]
    own = rig.weights[:, middle].sum(axis=1) > 0.5
    centre = rig.vertices[own].mean(axis=0)
    number = np.cumsum(own) - 1
    faces = number[rig.faces[own[rig.faces].all(axis=1)]]
    vertices = rig.vertices[own] + 0.04 * (rig.vertices[own] - centre)
    columns = {j.key: rig.weights[own, i] for i, j in enumerate(rig.joints)}
    return rig.with_skin(vertices, faces, columns)


STRUCTURES: dict[str, Change] = {
    "as made": unchanged,
    "twist joints beside": twists(inline=False),
    "twist joints in the chain": twists(inline=True),
    "two twist joints in the chain": twists(inline=True, count=2),
    "leaf ends": leaf_ends,
    "IK targets and poles": ik_targets,
    "feet on roots of their own": ik_feet,
    "Z-up centimetres": written(scale=0.01, z_up=True),
    "armature scaled by 100": written(scale=100.0),
    "mesh under another node": written(scale=0.01, z_up=True, mesh_inside=False),
    "Sketchfab's nodes": sketchfab,
    "three meshes": written(parts=3),
    "three skins": written(parts=3, skins=3),
    "clothes": clothes,
    "controls, each holds its bone": control_chains("each"),
    "controls hold the limbs": chained(control_chains("tops"), written(scale=100.0)),
    "controls beside": control_chains("beside"),
    "flat tree": flat,
    "one joint a limb": one_joint_limbs,
    "two joints a limb": two_joint_limbs,
    "no girdles": without("girdle"),
    "no toes": without("toes"),
    "no neck, jaw or ears": without("neck", "jaw", "ear"),
    "two spine joints": spine_of(2),
    "seven spine joints": spine_of(7),
    "legs on the spine, arms on the neck": biped_links,
    "hip above pelvis and spine": hip_above_pelvis,
    "stray weights on the root": rested_elsewhere,
    "A-pose": arms_at(45.0),
    "T-pose": arms_at(90.0),
    "arms down": arms_at(5.0),
    "facing -Z": facing(180.0),
    "facing +X": facing(90.0),
    "fingers": fingers,
    "face": face_bones,
    "weapons as pieces": weapons("rigid"),
    "weapons with weights": weapons("skinned"),
    "cape": cape,
    "hair": hair,
    "skirt": skirt,
    "horns": horns,
    "tail": tail,
    "pedestal": pedestal,
    "T-pose, fingers, twists, ends, IK": chained(
        arms_at(90.0), fingers, twists(inline=False), leaf_ends, ik_targets, sketchfab
    ),
    "T-pose, hair, skirt, cape": chained(arms_at(90.0), hair, skirt, cape),
}
"""By what a table calls them."""
