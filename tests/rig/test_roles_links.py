"""Roles on rigs that hang together in other ways than most: a root in the chest, a helper on one
side, a body without a head, a flat tree."""

import numpy as np
import torch
from scipy.sparse import csr_matrix

from akd.rig.pose import Pose
from akd.rig.props import find_lone_pieces
from akd.rig.roles import assemble, symmetry
from akd.rig.roles.anatomy import find_anatomy
from akd.rig.roles.assemble import find_body
from akd.rig.roles.body import Evidence
from akd.rig.roles.facing import FACING_FEATURES, measure_facing
from akd.rig.roles.limbs import LimbFinder
from akd.rig.roles.role import LimbKind, Part
from akd.rig.roles.symmetry import find_sagittal
from akd.rig.skeleton import Skeleton

Joints = dict[str, tuple[str, tuple[float, float, float]]]


def skinned(
    joints: Joints,
    thickness: dict[str, float],
    *,
    flat: bool = False,
    shared: dict[str, str] | None = None,
) -> Evidence:
    """Each joint that has a thickness moves a box around its bone, to the middle of its children.

    Args:
        joints: Parent, empty for none, and position of each.
        thickness: Half edge of each box across the bone; also beyond a last joint's end.
        flat: Whether the file hangs all joints on the first, which moves nothing then.
        shared: For some joints another that moves their skin by 0.4.
    """
    names = tuple(joints)
    parents = [names.index(p) if p else -1 for p, _ in joints.values()]
    positions = np.array([x for _, x in joints.values()])
    points, owners = [], []
    for joint, name in enumerate(names):
        if name not in thickness:
            continue
        below = [k for k, p in enumerate(parents) if p == joint]
        end = positions[below].mean(axis=0) if below else positions[joint]
        corners = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T * thickness[name]
        along = np.linspace(0.0, 1.0, 8)[:, None, None]
        box = positions[joint] + along * (end - positions[joint]) + corners
        points.append(box.reshape(-1, 3))
        owners += [joint] * len(points[-1])
    if flat:
        parents = [0 if k else -1 for k in range(len(names))]
    skeleton = Skeleton(names, tuple(parents), Pose.identity(len(names), dtype=torch.float64))
    vertices, count = np.concatenate(points), len(owners)
    # A box weighs as its area, as the vertices of a mesh do.
    areas = np.array([thickness[names[j]] for j in owners])
    second = np.array([names.index((shared or {}).get(names[j], names[j])) for j in owners])
    weights = sum(
        csr_matrix((share * areas, (np.arange(count), moving)), shape=(count, len(names)))
        for share, moving in ((0.6, owners), (0.4, second))
    )
    assert isinstance(weights, csr_matrix)
    return Evidence(skeleton, positions, np.ones(len(names), bool), vertices, weights)


def mirrored(joints: Joints) -> Joints:
    """With the mirror image of every joint whose name ends in `_l`."""
    other = {
        name[:-2] + "_r": (parent[:-2] + "_r" if parent.endswith("_l") else parent, (-x, y, z))
        for name, (parent, (x, y, z)) in joints.items()
        if name.endswith("_l")
    }
    return joints | other


def anonymous(joints: Joints) -> Joints:
    """With names that say nothing."""
    new = {name: f"bone_{k}" for k, name in enumerate(joints)}
    return {new[n]: (new.get(p, ""), x) for n, (p, x) in joints.items()}


def thick(joints: Joints, **special: float) -> dict[str, float]:
    """Trunks of half a width of 0.15 and limbs of 0.04; `special` by the names' beginnings."""

    def of(name: str) -> float:
        found = [v for k, v in special.items() if name.startswith(k)]
        return found[0] if found else 0.04 if name.endswith(("_l", "_r")) else 0.15

    return {name: of(name) for name in joints}


def renamed(joints: Joints, thickness: dict[str, float]) -> dict[str, float]:
    """The thickness by the names of `anonymous`."""
    return {f"bone_{k}": thickness[n] for k, n in enumerate(joints) if n in thickness}


CHEST_FIRST: Joints = mirrored({
    "chest": ("", (0.0, 1.0, 0.5)),
    "neck": ("chest", (0.0, 1.1, 0.8)),
    "head": ("neck", (0.0, 1.3, 1.0)),
    "nose": ("head", (0.0, 1.25, 1.3)),
    "back": ("chest", (0.0, 1.0, 0.0)),
    "tail1": ("back", (0.0, 0.95, -0.6)),
    "tail2": ("tail1", (0.0, 0.8, -0.9)),
    "tail3": ("tail2", (0.0, 0.7, -1.2)),
    "fore_upper_l": ("chest", (0.2, 0.8, 0.5)),
    "fore_lower_l": ("fore_upper_l", (0.2, 0.4, 0.45)),
    "fore_foot_l": ("fore_lower_l", (0.2, 0.05, 0.5)),
    "hind_upper_l": ("back", (0.2, 0.8, -0.4)),
    "hind_lower_l": ("hind_upper_l", (0.2, 0.4, -0.45)),
    "hind_foot_l": ("hind_lower_l", (0.2, 0.05, -0.4)),
})  # fmt: skip


def called(joints: Joints, found: tuple[int, ...]) -> list[str]:
    return [tuple(joints)[j] for j in found]


def test_a_tail_begins_behind_the_legs_that_its_chain_carries():
    boxes = thick(CHEST_FIRST, tail=0.05)
    evidence = skinned(anonymous(CHEST_FIRST), renamed(CHEST_FIRST, boxes))
    anatomy = find_anatomy(evidence)
    assert [limb.kind for limb in anatomy.limbs[::2]] == [LimbKind.FORE, LimbKind.HIND]
    tail = called(CHEST_FIRST, anatomy.tail)
    assert tail == ["tail1", "tail2", "tail3"]
    assert anatomy.roles[tuple(CHEST_FIRST).index("back")].part is not Part.TAIL


def test_a_helper_on_one_side_does_not_part_left_from_right():
    joints = dict(CHEST_FIRST)
    joints["holder"] = ("chest", (0.0, 1.0, 0.5))
    joints["fore_upper_r"] = ("holder", joints["fore_upper_r"][1])
    boxes = {n: t for n, t in thick(joints, tail=0.05).items() if n != "holder"}
    anatomy = find_anatomy(skinned(anonymous(joints), renamed(joints, boxes)))
    feet = {called(joints, (limb.tip,))[0] for limb in anatomy.legs}
    assert feet == {f"{end}_foot_{side}" for end in ("fore", "hind") for side in "lr"}


def facing_measures(joints: Joints, **boxes: float) -> dict[str, float]:
    """Of a body that faces +Z, by their names."""
    evidence = skinned(anonymous(joints), renamed(joints, thick(joints, **boxes)))
    body = find_body(evidence)
    plane = find_sagittal(evidence, body)
    pairs = LimbFinder(evidence, body, plane).branches()
    values = measure_facing(evidence, body, np.array([0.0, 0.0, 1.0]), plane, pairs)
    return dict(zip(FACING_FEATURES, values.tolist(), strict=True))


def test_ears_and_the_heavier_end_of_the_middle_are_measured_and_legs_are_not():
    plain = facing_measures(CHEST_FIRST, tail=0.05)
    assert plain["pairs that are no legs"] == 0.0
    ears = mirrored({"ear_l": ("head", (0.2, 1.4, 1.0)), "ear_tip_l": ("ear_l", (0.3, 1.6, 1.0))})
    with_ears = facing_measures(CHEST_FIRST | ears, tail=0.05)
    assert 0.2 < with_ears["pairs that are no legs"] < 0.6
    assert plain["the heavy end of the middle"] > 0.0  # the nose, not the tail
    big_tail = facing_measures(CHEST_FIRST, tail=0.4, nose=0.01)
    assert big_tail["the heavy end of the middle"] < 0.0


PERSON: Joints = mirrored({
    "hips": ("", (0.0, 1.0, 0.0)),
    "spine": ("hips", (0.0, 1.15, 0.0)),
    "chest": ("spine", (0.0, 1.3, 0.0)),
    "neck": ("chest", (0.0, 1.55, 0.0)),
    "upper_l": ("chest", (0.2, 1.5, 0.0)),
    "lower_l": ("upper_l", (0.3, 1.2, -0.02)),
    "hand_l": ("lower_l", (0.4, 0.95, 0.05)),
    "fingers_l": ("hand_l", (0.42, 0.85, 0.07)),
    "thigh_l": ("hips", (0.1, 0.95, 0.0)),
    "shin_l": ("thigh_l", (0.1, 0.5, 0.01)),
    "foot_l": ("shin_l", (0.1, 0.08, -0.03)),
    "toes_l": ("foot_l", (0.1, 0.03, 0.12)),
})  # fmt: skip


def test_a_body_that_is_cut_at_the_neck_keeps_its_arms():
    boxes = thick(PERSON, hips=0.11, spine=0.11, chest=0.12, neck=0.03)
    anatomy = find_anatomy(skinned(anonymous(PERSON), renamed(PERSON, boxes)))
    assert [limb.kind for limb in anatomy.limbs] == [LimbKind.LEG] * 2 + [LimbKind.ARM] * 2
    assert called(PERSON, anatomy.trunk)[-1] == "neck"


def test_a_body_that_lost_an_arm_has_the_other():
    lost = ("upper_l", "lower_l", "hand_l", "fingers_l")
    joints = {n: v for n, v in PERSON.items() if n not in lost}
    new = {"upper_r": "upper_arm_r", "lower_r": "lower_arm_r"}
    joints = {new.get(n, n): (new.get(p, p), x) for n, (p, x) in joints.items()}
    joints["head"] = ("neck", (0.0, 1.7, 0.0))
    boxes = thick(joints, hips=0.11, spine=0.11, chest=0.12, neck=0.05, head=0.12)
    anatomy = find_anatomy(skinned(joints, boxes))
    assert [limb.kind for limb in anatomy.limbs] == [LimbKind.LEG] * 2 + [LimbKind.ARM]
    arm, names = anatomy.limbs[-1], tuple(joints)
    assert arm.side == "right"
    assert called(joints, arm.joints) == ["upper_arm_r", "lower_arm_r", "hand_r"]
    parts = [anatomy.roles[names.index(n)].part for n in ("upper_arm_r", "lower_arm_r", "hand_r")]
    assert parts == [Part.UPPER, Part.LOWER, Part.HAND]


def test_collar_bones_of_a_flat_tree_are_no_second_arms():
    joints: Joints = {"root": ("", (0.0, 0.0, 0.0))}
    joints |= {n: (p or "root", x) for n, (p, x) in PERSON.items()}
    joints |= mirrored({"collar_l": ("chest", (0.06, 1.5, 0.0))})
    # Both share their skin with the chest, so that the arm hangs there and not on the collar bone.
    boxes = thick(joints, hips=0.11, spine=0.11, chest=0.15, neck=0.1, collar=0.05)
    del boxes["root"]
    shared = {f"{part}_{side}": "chest" for part in ("collar", "upper") for side in "lr"}
    anatomy = find_anatomy(skinned(joints, boxes, flat=True, shared=shared))
    assert [limb.kind for limb in anatomy.limbs] == [LimbKind.LEG] * 2 + [LimbKind.ARM] * 2


def test_the_plane_is_found_once_however_deep_the_root_lies(monkeypatch):
    # A stem of 60 joints with a twig each: every level down asks what stands aside.
    joints: Joints = {"a0": ("", (0.0, 0.0, 0.0))}
    for k in range(1, 60):
        joints[f"a{k}"] = (f"a{k - 1}", (0.0, 0.01 * k, 0.0))
        joints[f"b{k}"] = (f"a{k - 1}", (0.05, 0.01 * k, 0.02))
    evidence = skinned(joints, dict.fromkeys(joints, 0.01))
    asked, planes = [], []
    central, plane = assemble._central, assemble.find_sagittal
    monkeypatch.setattr(assemble, "_central", lambda *a: asked.append(a) or central(*a))
    monkeypatch.setattr(assemble, "find_sagittal", lambda *a: planes.append(a) or plane(*a))
    body = find_body(evidence)
    assert len(body.parents) > 1
    assert len(asked) > 5
    assert len(planes) == 1


ON_GOALS: Joints = mirrored({
    "hips": ("", (0.0, 1.0, 0.0)),
    "spine": ("hips", (0.0, 1.2, 0.0)),
    "head": ("spine", (0.0, 1.7, 0.0)),
    "p_tail1": ("head", (0.0, 1.9, -0.2)),
    "p_tail2": ("p_tail1", (0.0, 1.7, -0.3)),
    "p_tail3": ("p_tail2", (0.0, 1.5, -0.3)),
    "upper_leg_l": ("hips", (0.15, 0.95, 0.0)),
    "lower_leg_l": ("upper_leg_l", (0.15, 0.5, 0.0)),
    "foot_l": ("lower_leg_l", (0.15, 0.05, 0.0)),
    "upper_arm_l": ("spine", (0.2, 1.5, 0.0)),
    "lower_arm_l": ("upper_arm_l", (0.5, 1.5, 0.0)),
    "wrist_l": ("lower_arm_l", (0.8, 1.5, 0.0)),
    "goal_l": ("spine", (0.8, 1.5, 0.0)),
    "grip_l": ("goal_l", (0.8, 1.5, 0.0)),
    "thumb_l": ("grip_l", (0.85, 1.5, 0.05)),
})  # fmt: skip
"""Hands that IK goals hold, which hang on the spine; nothing moves the wrists' own skin."""


def test_hands_on_ik_goals_belong_to_the_forearms_that_end_where_they_begin():
    joints = {n: v for n, v in ON_GOALS.items() if not n.startswith("p_tail")}
    boxes = {n: t for n, t in thick(joints).items() if not n.startswith(("wrist", "goal"))}
    anatomy = find_anatomy(skinned(anonymous(joints), renamed(joints, boxes)))
    arms = [limb for limb in anatomy.limbs if limb.kind is LimbKind.ARM]
    assert len(arms) == 2
    for limb in arms:
        side = called(joints, limb.joints)[0][-2:]
        names = [n + side for n in ("upper_arm", "lower_arm", "grip")]
        assert called(joints, limb.joints)[: len(names)] == names


def test_a_chain_that_hangs_on_the_head_is_no_tail():
    boxes = {n: t for n, t in thick(ON_GOALS, p_tail=0.04).items() if not n.startswith("goal")}
    anatomy = find_anatomy(skinned(ON_GOALS, boxes))
    assert called(ON_GOALS, anatomy.trunk)[-1] == "head"
    assert anatomy.tail == ()


def test_the_root_has_no_mirror_image():
    # A bird whose wings hang on two roots in one place, which share the body.
    joints: Joints = {"file": ("", (0.0, 0.0, 0.0))} | mirrored({
        "root_wing_l": ("file", (0.0, 0.2, 0.2)),
        "wing1_l": ("root_wing_l", (0.1, 0.3, 0.2)),
        "wing2_l": ("wing1_l", (0.5, 0.1, 0.2)),
        "wing3_l": ("wing2_l", (0.9, 0.1, 0.2)),
    })  # fmt: skip
    boxes = {n: 0.1 if n.startswith("root") else 0.03 for n in joints if n != "file"}
    anatomy = find_anatomy(skinned(joints, boxes))
    assert [limb.kind for limb in anatomy.limbs] == [LimbKind.WING] * 2
    assert [called(joints, limb.joints)[0] for limb in anatomy.limbs] == ["wing1_l", "wing1_r"]


def test_hands_and_feet_that_hang_on_the_spine_end_the_limbs_into_which_their_skin_blends():
    joints: Joints = mirrored({
        "hips": ("", (0.0, 1.0, 0.0)),
        "spine": ("hips", (0.0, 1.2, 0.0)),
        "head": ("spine", (0.0, 1.7, 0.0)),
        "thigh_l": ("hips", (0.15, 0.95, 0.0)),
        "shin_l": ("thigh_l", (0.15, 0.5, 0.0)),
        "shin_end_l": ("shin_l", (0.15, 0.12, 0.0)),
        "upper_l": ("spine", (0.2, 1.5, 0.0)),
        "lower_l": ("upper_l", (0.5, 1.5, 0.0)),
        "lower_end_l": ("lower_l", (0.75, 1.5, 0.0)),
        "grip_l": ("spine", (0.8, 1.5, 0.0)),
        "sole_l": ("hips", (0.15, 0.05, 0.0)),
    })  # fmt: skip
    boxes = {n: t for n, t in thick(joints).items() if "_end_" not in n}
    shared = {
        n: n.replace(a, b)
        for n in joints
        for a, b in (("grip", "lower"), ("sole", "shin"))
        if a in n
    }
    anatomy = find_anatomy(skinned(joints, boxes, shared=shared))
    ends = {called(joints, limb.joints)[-1] for limb in anatomy.limbs}
    assert ends == {"grip_l", "grip_r", "sole_l", "sole_r"}
    # Where the skin does not blend, a foot that stands beside the other one belongs to neither.
    assert not assemble._on_goals(skinned(joints, boxes), set())


def test_both_legs_of_a_pair_end_at_the_same_joint():
    joints = PERSON | {"head": ("neck", (0.0, 1.7, 0.0))}
    boxes = thick(joints, hips=0.11, spine=0.11, chest=0.12, neck=0.05, head=0.12)
    for name in ("toes_l", "toes_r", "foot_l", "shin_l"):
        boxes[name] = 0.02
    boxes["shin_r"] = 0.09  # reaches the ground beside the foot
    del boxes["toes_r"], joints["toes_r"]
    del boxes["toes_l"], joints["toes_l"]
    anatomy = find_anatomy(skinned(joints, boxes))
    assert {called(joints, (leg.joints[-1],))[0] for leg in anatomy.legs} == {"foot_l", "foot_r"}


def test_the_first_of_two_joints_of_a_thigh_follows_where_it_is_only_a_stub():
    # As in MakeHuman's skeleton.
    legs = mirrored({
        "pelvis_l": ("hips", (0.03, 0.98, 0.0)),
        "upperleg01_l": ("pelvis_l", (0.12, 0.95, 0.0)),
        "upperleg02_l": ("upperleg01_l", (0.13, 0.87, 0.0)),
        "lowerleg01_l": ("upperleg02_l", (0.1, 0.5, 0.01)),
        "lowerleg02_l": ("lowerleg01_l", (0.1, 0.29, -0.01)),
        "foot_l": ("lowerleg02_l", (0.1, 0.08, -0.03)),
    })  # fmt: skip
    gone = ("thigh", "shin", "foot", "toes")
    joints = {n: v for n, v in PERSON.items() if not n.startswith(gone)} | legs
    anatomy = find_anatomy(skinned(joints, thick(joints, hips=0.11, spine=0.11, chest=0.12)))
    part = dict(zip(joints, (role.part for role in anatomy.roles), strict=True))
    for side in ("l", "r"):
        assert part[f"upperleg02_{side}"] is Part.UPPER
        assert part[f"lowerleg01_{side}"] is Part.LOWER
        assert part[f"foot_{side}"] is Part.FOOT
        assert part[f"upperleg01_{side}"] is part[f"lowerleg02_{side}"] is Part.OTHER


FISH: Joints = {
    "body": ("", (0.0, 1.0, 0.1)),
    "front": ("body", (0.0, 1.0, 0.5)),
    "head": ("front", (0.0, 1.0, 1.0)),
    "jaw": ("head", (0.0, 0.95, 1.3)),
    "behind": ("body", (0.0, 1.0, -0.35)),
    "body_tail1": ("behind", (0.0, 1.0, -0.85)),
    "body_tail2": ("body_tail1", (0.0, 1.0, -1.2)),
}


def test_a_head_is_not_the_mirror_image_of_a_tail():
    turned = {n: (p, (z, y, x)) for n, (p, (x, y, z)) in FISH.items()}
    for joints, forward in ((FISH, (0.0, 0.0, 1.0)), (turned, (1.0, 0.0, 0.0))):
        anatomy = find_anatomy(skinned(joints, dict.fromkeys(joints, 0.1)))
        assert anatomy.limbs == ()
        np.testing.assert_allclose(anatomy.forward, forward, atol=1e-9)
        assert called(joints, anatomy.tail)[-1] == "body_tail2"


def test_what_is_named_on_the_middle_tells_the_way_whatever_the_sides_say():
    # Left and right are exchanged, and the format's front is behind. Once the wings are wide.
    animal = {n.replace("_l", "_x").replace("_r", "_l").replace("_x", "_r"): (
        p.replace("_l", "_x").replace("_r", "_l").replace("_x", "_r"), (-x, y, -z)
    ) for n, (p, (x, y, z)) in CHEST_FIRST.items()}  # fmt: skip
    swapped = {n: (p, (-x, y, z)) for n, (p, (x, y, z)) in animal.items()}
    wings = mirrored(
        {"wing1_l": ("chest", (1.0, 1.2, -0.5)), "wing2_l": ("wing1_l", (6.0, 1.2, -0.5))}
    )
    for joints in (swapped, swapped | wings):
        anatomy = find_anatomy(skinned(joints, thick(joints, tail=0.05)))
        np.testing.assert_allclose(anatomy.forward, (0.0, 0.0, -1.0), atol=1e-9)


def test_eyes_and_a_jaw_tell_where_a_face_looks():
    joints = {n: (p, (-x, y, -z)) for n, (p, (x, y, z)) in PERSON.items() if "toes" not in n}
    joints["head"] = ("neck", (0.0, 1.6, 0.0))
    boxes = thick(joints, hips=0.11, spine=0.11, chest=0.12, neck=0.05, head=0.12)
    face: Joints = {"jaw": ("head", (0.0, 1.6, -0.2)), "nose": ("head", (0.0, 1.7, -0.25))}
    plain = find_anatomy(skinned(joints, boxes))
    facing = find_anatomy(skinned(joints | face, boxes | {"jaw": 0.01, "nose": 0.01}))
    assert facing.forward[2] == -1.0
    assert "face" in facing.forward_found_by
    assert facing.forward_confidence > 0.9 > plain.forward_confidence


def test_a_head_that_leans_aside_is_nothing_that_a_hand_carries():
    joints = PERSON | {"neck": ("chest", (0.25, 1.5, 0.0)), "head": ("neck", (0.35, 1.6, 0.0))}
    boxes = thick(joints, hips=0.11, spine=0.11, chest=0.12, neck=0.05, head=0.13)
    assert find_lone_pieces(skinned(joints, boxes)) == []
    unnamed = find_lone_pieces(skinned(anonymous(joints), renamed(joints, boxes)))
    assert called(joints, tuple(unnamed)) == ["head"]


def test_branches_of_the_middle_are_a_pair_by_their_bones_whatever_the_pose():
    joints = PERSON | {"lower_r": ("upper_r", (-0.2, 1.82, 0.0)), "head": ("neck", (0.0, 1.7, 0.0))}
    lengths = [
        np.subtract(PERSON[a][1], PERSON[b][1])
        for a, b in (("lower_l", "upper_l"), ("hand_l", "lower_l"), ("fingers_l", "hand_l"))
    ]
    heights = 1.5 + np.cumsum(np.linalg.norm(lengths, axis=1))
    for name, height in zip(("lower_r", "hand_r", "fingers_r"), heights.tolist(), strict=True):
        joints[name] = (PERSON[name][0], (-0.2, height, 0.0))  # the arm is raised

    def pairs(offset: float = 0.0) -> set[tuple[str, str]]:
        evidence = skinned(joints, thick(joints))
        plane = symmetry.Sagittal(np.array([1.0, 0.0, 0.0]), offset, {}, False)
        found = symmetry._with_likeness(evidence, find_body(evidence), plane)
        return {(list(joints)[a], list(joints)[b]) for a, b in found.items()}

    assert {("upper_l", "upper_r"), ("hand_r", "hand_l"), ("shin_l", "shin_r")} <= pairs()
    assert not pairs(offset=1.0)  # of another body, beside the one that the plane divides
    joints["hand_r"] = (joints["hand_r"][0], (-0.2, 2.3, 0.0))  # its bones are longer
    assert not {"upper_l", "upper_r"} & {a for a, _ in pairs()}
    assert ("shin_l", "shin_r") in pairs()
