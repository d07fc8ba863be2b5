"""Bodies that the zoo has not: put together from its creatures, bound in other poses, or with
further parts. All face +Z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from akd.zoo.creature import build_creature
from benchmarks.stress_rig import SIDES, Array, Joint, StressRig, from_creature
from benchmarks.stress_structures import Change, beyond, horns, strand, tail


def grafted(
    rig: StressRig,
    donor: StressRig,
    top: str,
    onto: str,
    *,
    place: Array | None = None,
    scale: float = 1.0,
    turn: Rotation | None = None,
    rename: Callable[[Joint], Joint] = lambda joint: joint,
) -> StressRig:
    """With a donor's joint, all below it and their skin, hung on a joint."""
    keys = donor.subtree(top)
    origin = donor.joint(top).place
    target = origin if place is None else place
    turn = turn or Rotation.identity()

    def moved(points: Array) -> Array:
        return target + scale * turn.apply(points - origin)

    new = {k: rename(donor.joint(k)).key for k in keys}
    joints = [
        replace(
            rename(donor.joint(k)),
            place=moved(donor.joint(k).place),
            parent=onto if k == top else new[donor.joint(k).parent or ""],
        )
        for k in keys
    ]
    columns = [donor.index(k) for k in keys]
    own = donor.weights[:, columns].sum(axis=1) > 0.5
    number = np.cumsum(own) - 1
    faces = number[donor.faces[own[donor.faces].all(axis=1)]]
    weights = donor.weights[own][:, columns]
    weights = weights / weights.sum(axis=1, keepdims=True)
    by_key = {new[k]: weights[:, i] for i, k in enumerate(keys)}
    return rig.added(*joints).with_skin(moved(donor.vertices[own]), faces, by_key)


def cut(rig: StressRig, top: str) -> StressRig:
    """Without a joint, all below it, and the skin of these."""
    gone = set(rig.subtree(top))
    columns = [i for i, j in enumerate(rig.joints) if j.key not in gone]
    kept = rig.weights[:, columns].sum(axis=1) > 0.5
    number = np.cumsum(kept) - 1
    weights = rig.weights[kept][:, columns]
    return replace(
        rig,
        joints=tuple(rig.joints[i] for i in columns),
        vertices=rig.vertices[kept],
        faces=number[rig.faces[kept[rig.faces].all(axis=1)]],
        weights=weights / weights.sum(axis=1, keepdims=True),
    )


def creature(species: str, seed: int = 1011) -> StressRig:
    """Of the zoo."""
    return from_creature(build_creature(species, seed=seed, vertices=1500))


def _chest(rig: StressRig) -> Joint:
    return max((j for j in rig.joints if j.part == "spine"), key=lambda j: j.number)


def angel() -> StressRig:
    """A man with the wings of an eagle."""
    man, eagle = creature("man"), creature("eagle")
    chest = _chest(man)
    span = float(np.ptp(man.vertices[:, 1]))
    reach = float(np.ptp(eagle.vertices[:, 0]))
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        top = eagle.chain(side, "wing")[0]
        place = chest.place + span * np.array([0.05 * sign, 0.0, -0.08])
        man = grafted(man, eagle, top.key, chest.key, place=place, scale=1.3 * span / reach)
    return replace(man, species="angel")


def demon() -> StressRig:
    """The same with the wings of a dragon, horns and a tail."""
    man, dragon = creature("ogre"), creature("dragon")
    chest = _chest(man)
    span = float(np.ptp(man.vertices[:, 1]))
    reach = float(np.ptp(dragon.vertices[:, 0]))
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        top = dragon.chain(side, "wing")[0]
        place = chest.place + span * np.array([0.05 * sign, 0.03, -0.1])
        man = grafted(man, dragon, top.key, chest.key, place=place, scale=1.6 * span / reach)
    return replace(tail(horns(man)), species="demon")


def centaur() -> StressRig:
    """The body of a horse, and a man from the waist up in place of its neck."""
    horse, man = creature("horse"), creature("man")
    neck = next(j for j in horse.joints if j.part == "neck")
    place = neck.place.copy()
    horse = cut(horse, neck.key)
    spine = min((j for j in man.joints if j.part == "spine"), key=lambda j: j.number)

    def rename(joint: Joint) -> Joint:
        return replace(joint, key=f"man_{joint.key}")

    horse = grafted(horse, man, spine.key, _chest(horse).key, place=place, scale=0.9, rename=rename)
    return replace(horse, species="centaur")


def two_heads(species: str) -> StressRig:
    """With the neck and the head twice, side by side."""
    rig = creature(species)
    neck = next(j for j in rig.joints if j.part in ("neck", "head"))
    across = 0.08 * float(np.ptp(rig.vertices[:, 1]))
    source = rig
    rig = cut(rig, neck.key)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):

        def rename(joint: Joint, side: str = side) -> Joint:
            return replace(joint, key=f"{side}_head_{joint.key}", side=side)

        assert neck.parent is not None
        rig = grafted(
            rig,
            source,
            neck.key,
            neck.parent,
            place=neck.place + np.array([sign * across, 0.0, 0.0]),
            turn=Rotation.from_euler("y", 15.0 * sign, degrees=True),
            rename=rename,
        )
    return replace(rig, species=f"two-headed {species}")


def bee() -> StressRig:
    """Six legs of a spider, two pairs of an eagle's wings."""
    rig, eagle = creature("spider"), creature("eagle")
    for side in SIDES:
        rig = cut(rig, rig.chain(side, "leg", 4)[0].key)
    body = next(j for j in rig.joints if j.part in ("spine", "pelvis"))
    size = float(np.ptp(rig.vertices[:, 2]))
    for number, z in ((0, 0.1), (2, -0.05)):
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):

            def rename(joint: Joint, number: int = number) -> Joint:
                return replace(joint, key=f"{joint.key}_{number}", number=number)

            top = eagle.chain(side, "wing")[0]
            rig = grafted(
                rig,
                eagle,
                top.key,
                body.key,
                place=body.place + size * np.array([0.03 * sign, 0.05, z]),
                scale=(1.0 - 0.1 * number) * size / float(np.ptp(eagle.vertices[:, 0])),
                rename=rename,
            )
    return replace(rig, species="bee")


def gripping_spider() -> StressRig:
    """A scorpion: eight legs and, in front, claws that do not stand."""
    rig, man = creature("spider"), creature("man")
    body = next(j for j in rig.joints if j.part in ("spine", "pelvis"))
    size = float(np.ptp(rig.vertices[:, 2]))
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        top = next(j for j in man.chain(side, "arm") if j.part == "upper")
        rig = grafted(
            rig,
            man,
            top.key,
            body.key,
            place=body.place + size * np.array([0.1 * sign, 0.05, 0.25]),
            scale=0.35 * size,
            turn=Rotation.from_euler("x", -80.0, degrees=True),
        )
    return replace(rig, species="scorpion")


def segmented_legs(count: int) -> Change:
    """Legs that zigzag: the segment above the foot split in `count`, bent in turn, as those of
    fauns, werewolves and mechs are."""

    def apply(rig: StressRig) -> StressRig:
        for limb in [x for x in rig.limbs() if x[1:] == ("leg", 0)]:
            chain = rig.chain(*limb)
            lower = next((j for j in chain if j.part == "lower"), None)
            if lower is None or lower is chain[-1]:
                continue
            after = chain[chain.index(lower) + 1]
            above = lower.key
            start, end = lower.place, after.place
            for k in range(1, count):
                at = k / count
                key = f"{lower.key}_{k}"
                place = (1.0 - at) * start + at * end
                rig = rig.added(
                    replace(lower, key=key, parent=above, place=place, part="cannon", name=key)
                )
                rig = rig.moved(above, key, beyond(rig, start, end, at))
                above = key
            rig = rig.changed(after.key, parent=above)
            upper = next(j for j in chain if j.part == "upper")
            turns = {upper.key: Rotation.from_euler("x", -30.0, degrees=True)}
            bent = [lower.key, *(f"{lower.key}_{k}" for k in range(1, count))]
            for k, key in enumerate(bent):
                turns[key] = Rotation.from_euler("x", 55.0 if k % 2 == 0 else -45.0, degrees=True)
            left = -30.0 + sum(55.0 if k % 2 == 0 else -45.0 for k in range(len(bent)))
            turns[after.key] = Rotation.from_euler("x", -left, degrees=True)
            rig = rig.turned(turns)
        return rig

    return apply


def posed(**degrees: tuple[float, float, float]) -> Change:
    """Bound in another pose: degrees about x, y, z for `limb_part`, mirrored for the right side;
    a key with a side turns that side alone. Legs by the dozen stay as they are."""

    def apply(rig: StressRig) -> StressRig:
        turns = {}
        for j in rig.joints:
            if not j.limb or j.number:
                continue
            for key, (x, y, z) in degrees.items():
                if key in (f"{j.limb}_{j.part}", f"{j.side}_{j.limb}_{j.part}"):
                    sign = -1.0 if j.side == "right" else 1.0
                    turns[j.key] = Rotation.from_euler("xyz", [x, sign * y, sign * z], degrees=True)
        return rig.turned(turns) if turns else rig

    return apply


def rigid(rig: StressRig) -> StressRig:
    """Every vertex on one joint: no blending."""
    weights = np.zeros_like(rig.weights)
    weights[np.arange(len(weights)), rig.weights.argmax(axis=1)] = 1.0
    return replace(rig, weights=weights)


def armatures_apart(rig: StressRig) -> StressRig:
    """Every limb on a root of its own."""
    for joint in rig.joints:
        if joint.limb and joint.parent and rig.joint(joint.parent).limb != joint.limb:
            rig = rig.changed(joint.key, parent=None)
    return rig


def controls_on_root(rig: StressRig) -> StressRig:
    """Targets and poles of limbs under the root, named by the skin, and controls for the trunk."""
    for joint in rig.joints:
        if joint.limb and joint.part in ("foot", "hand", "lower"):
            what = "pole" if joint.part == "lower" else "ik"
            ahead = np.array([0.0, 0.0, 0.4 if what == "pole" else 0.0])
            rig = rig.added(
                replace(joint, key=f"{what}_{joint.key}", parent="root", part=what,
                        place=joint.place + ahead)
            )  # fmt: skip
    return rig


def flesh(rig: StressRig) -> StressRig:
    """Breasts, buttocks and muscles: pairs of patches on the trunk and on upper segments."""
    h = float(np.ptp(rig.vertices[:, 1]))
    spots = [(_chest(rig).key, "breast", 0.06, 0.0, 0.09), ("pelvis", "glute", 0.06, -0.02, -0.08)]
    for parent, part, x, y, z in spots:
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            place = rig.joint(parent).place + h * np.array([sign * x, y, z])
            key = f"{part}_{side}"
            rig = rig.added(Joint(key, parent, place, part, side, name=key))
            near = np.linalg.norm(rig.vertices - place, axis=1) < 0.06 * h
            rig = rig.moved(parent, key, 0.8 * near)
    return rig


def robe(rig: StressRig) -> StressRig:
    """Eight chains around the hips down to the ground."""
    pelvis, h = rig.joint("pelvis").place, float(np.ptp(rig.vertices[:, 1]))
    for k in range(8):
        angle = np.radians(22.5 + 45.0 * k)
        out = np.array([np.sin(angle), 0.0, np.cos(angle)])
        start = pelvis + 0.09 * h * out
        end = pelvis * [1, 0, 1] + 0.25 * h * out + [0.0, 0.01 * h, 0.0]
        side = "left" if out[0] > 0.0 else "right"
        rig = strand(rig, f"robe_{k}", "pelvis", "robe", np.linspace(start, end, 5), 0.09 * h, side)
    return rig


def long_ears(rig: StressRig) -> StressRig:
    """Ears of a rabbit, of three joints, a third of the body's height."""
    head, h = rig.joint("head").place, float(np.ptp(rig.vertices[:, 1]))
    top = float(rig.vertices[rig.weights[:, rig.index("head")] > 0.5][:, 1].max())
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        start = np.array([sign * 0.04 * h, top - 0.02 * h, head[2]])
        end = start + h * np.array([0.05 * sign, 0.35, -0.05])
        rig = strand(rig, f"ear_{side}", "head", "ear", np.linspace(start, end, 4), 0.04 * h, side)
    return rig


def feelers(rig: StressRig) -> StressRig:
    """Two whips on the head, as long as the body."""
    head, size = rig.joint("head").place, float(np.ptp(rig.vertices, axis=0).max())
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        end = head + size * np.array([0.2 * sign, 0.25, 0.4])
        rig = strand(
            rig, f"feeler_{side}", "head", "antenna", np.linspace(head, end, 6), 0.01 * size, side
        )
    return rig


def long_tail(rig: StressRig) -> StressRig:
    """As long as the body, on the ground at its end."""
    start, size = rig.joint("pelvis").place, float(np.ptp(rig.vertices, axis=0).max())
    end = np.array([0.0, 0.03 * size, start[2] - 1.1 * size])
    return strand(rig, "whip", "pelvis", "tail", np.linspace(start, end, 9), 0.04 * size)


def tentacles(rig: StressRig) -> StressRig:
    """Four, two a side, on the last joint of the spine."""
    chest, h = _chest(rig), float(np.ptp(rig.vertices[:, 1]))
    for k, y in enumerate((0.1, -0.05)):
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            start = chest.place + h * np.array([0.05 * sign, y, -0.1])
            end = start + h * np.array([0.6 * sign, 0.2 - 0.4 * k, -0.4])
            rig = strand(
                rig, f"tentacle_{k}_{side}", chest.key, "tentacle", np.linspace(start, end, 7),
                0.025 * h, side,
            )  # fmt: skip
    return rig


def thin_feet(rig: StressRig) -> StressRig:
    """Without joints below the shin."""
    for joint in rig.joints:
        if joint.part in ("foot", "toes"):
            rig = rig.without(joint.key)
    return rig


def one_arm(rig: StressRig) -> StressRig:
    """The right arm is lost below the elbow."""
    chain = [j for j in rig.chain("right", "arm") if j.part in ("hand",)]
    return cut(rig, chain[0].key) if chain else rig


BODIES: dict[str, Callable[[], StressRig]] = {
    "angel": angel,
    "demon": demon,
    "centaur": centaur,
    "two-headed man": lambda: two_heads("man"),
    "two-headed wolf": lambda: two_heads("wolf"),
    "bee": bee,
    "scorpion": gripping_spider,
}
"""By name."""

POSES_AND_PARTS: dict[str, Change] = {
    "legs of four segments": segmented_legs(2),
    "legs of five segments": segmented_legs(3),
    "legs of six segments": segmented_legs(4),
    "legs spread": posed(leg_upper=(0, 0, 30), fore_upper=(0, 0, 35), hind_upper=(0, 0, 35)),
    "seated": posed(leg_upper=(-80, 0, 0), leg_lower=(80, 0, 0)),
    "rearing": posed(fore_upper=(-40, 0, 0)),
    "striding": posed(
        left_leg_upper=(-20, 0, 0), right_leg_upper=(20, 0, 0), left_arm_upper=(15, 0, 0),
        right_arm_upper=(-15, 0, 0), left_fore_upper=(-15, 0, 0), right_fore_upper=(15, 0, 0),
        left_hind_upper=(15, 0, 0), right_hind_upper=(-15, 0, 0),
    ),
    "arms forward": posed(arm_upper=(-80, 0, 0)),
    "arms overhead": posed(arm_upper=(0, 0, 150)),
    "rigid weights": rigid,
    "a root for each limb": armatures_apart,
    "targets on the root": controls_on_root,
    "flesh": flesh,
    "robe": robe,
    "long ears": long_ears,
    "feelers": feelers,
    "long tail": long_tail,
    "tentacles": tentacles,
    "no feet": thin_feet,
    "one arm shorter": one_arm,
}  # fmt: skip
"""Changes of pose and parts."""
