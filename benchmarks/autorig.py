"""Where the automatic rig puts joints, against artists' rigs of the same meshes.

Mean distance between a joint and the artist's joint of the same meaning, in % of body height, on
mesh2motion's model and rig pairs, on MakeHuman with two of its rigs, on other rigged files and on
creatures of the zoo, all of the measuring side. Which of the artist's joints means which of ours is
written down here by hand.

    python -m benchmarks.autorig [--seeds 0 1] [--report FILE] [--images FOLDER]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from akd.asset.read import read_asset
from akd.base.splits import asset_trains, zoo_seed_trains
from akd.rig.autorig.rig import FoundSkeleton, find_skeleton
from akd.rig.character import load_character
from akd.rig.skinning.automatic import world_positions
from benchmarks.measured import write_report

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"

FOX = {
    "pelvis": "Hips", "spine_1": "Spine_1", "spine_2": "Spine_2", "spine_3": "Spine_2.001",
    "neck_1": "Spine_3", "neck_2": "Spine_4", "head": "Head", "tail_1": "Tail_Base",
    "left_fore_upper": "Front_Leg_Upper_L", "left_fore_lower": "Front_Leg_Lower_L",
    "left_fore_foot": "Front_Leg_Ankle_L", "left_fore_toes": "Front_Leg_Foot_L",
    "left_hind_upper": "Back_Leg_Upper_L", "left_hind_lower": "Back_Leg_Lower_L",
    "left_hind_foot": "Back_Leg_Ankle_L", "left_hind_toes": "Back_Leg_Foot_L",
}  # fmt: skip
KAIJU = {
    "pelvis": "Hips", "spine_1": "Spine_1", "spine_2": "Spine_2", "neck_1": "Spine_2.001",
    "neck_2": "Spine_3", "neck_3": "Spine_4", "head": "Head", "tail_1": "Tail_Base",
    "left_leg_upper": "Back_Leg_Upper_L", "left_leg_lower": "Back_Leg_Lower_L",
    "left_leg_foot": "Back_Leg_Ankle_L", "left_leg_toes": "Back_Leg_Foot_1_L",
}  # fmt: skip
HUMAN = {
    "pelvis": "pelvis", "spine_1": "spine_01", "spine_2": "spine_02", "spine_3": "spine_03",
    "neck_1": "neck_01", "head": "head", "left_arm_shoulder": "clavicle_l",
    "left_arm_upper": "upperarm_l", "left_arm_lower": "lowerarm_l", "left_arm_hand": "hand_l",
    "left_leg_upper": "thigh_l", "left_leg_lower": "calf_l", "left_leg_foot": "foot_l",
    "left_leg_toes": "ball_l",
}  # fmt: skip
CMU = {
    "pelvis": "Hips", "spine_1": "LowerBack", "spine_2": "Spine", "spine_3": "Spine1",
    "neck_1": "Neck", "head": "Head", "left_arm_shoulder": "LeftShoulder",
    "left_arm_upper": "LeftArm", "left_arm_lower": "LeftForeArm", "left_arm_hand": "LeftHand",
    "left_leg_upper": "LeftUpLeg", "left_leg_lower": "LeftLeg", "left_leg_foot": "LeftFoot",
    "left_leg_toes": "LeftToeBase",
}  # fmt: skip

QUATERNIUS_ANIMAL = {
    "pelvis": "Back", "spine_1": "Torso", "spine_2": "Torso2", "spine_3": "Torso3",
    "neck_1": "Neck1", "neck_2": "Neck2", "head": "Head", "tail_1": "Tail1",
    "left_fore_upper": "FrontUpperLeg.L", "left_fore_lower": "FrontLowerLeg.L",
    "left_fore_foot": "IKFrontLeg.L", "left_fore_toes": "FF.L",
    "left_hind_upper": "BackLeg.L", "left_hind_lower": "BackUpperLeg.L",
    "left_hind_foot": "BackLowerLeg.L", "left_hind_toes": "IKBackLeg.L",
}  # fmt: skip
QUATERNIUS_PERSON = {
    "pelvis": "Hips", "spine_1": "Abdomen", "spine_2": "Torso", "spine_3": "Chest",
    "neck_1": "Neck", "head": "Head", "left_arm_shoulder": "Shoulder.L",
    "left_arm_upper": "UpperArm.L", "left_arm_lower": "LowerArm.L", "left_arm_hand": "Hand.L",
    "left_leg_upper": "UpperLeg.L", "left_leg_lower": "LowerLeg.L", "left_leg_foot": "Foot.L",
}  # fmt: skip
KHRONOS_FOX = {
    "pelvis": "b_Hip_01", "spine_1": "b_Spine01_02", "spine_2": "b_Spine02_03",
    "neck_1": "b_Neck_04", "head": "b_Head_05", "tail_1": "b_Tail01_012",
    "left_fore_upper": "b_LeftUpperArm_09", "left_fore_lower": "b_LeftForeArm_010",
    "left_fore_foot": "b_LeftHand_011", "left_hind_upper": "b_LeftLeg01_015",
    "left_hind_lower": "b_LeftLeg02_016", "left_hind_foot": "b_LeftFoot01_017",
    "left_hind_toes": "b_LeftFoot02_018",
}  # fmt: skip
OTHERS = [
    *(
        ("quadruped", f"quaternius/animals_pack/{name}.glb", QUATERNIUS_ANIMAL)
        for name in ("Fox", "Husky", "ShibaInu", "Wolf")
    ),
    ("quadruped", "khronos/Fox/glTF-Binary/Fox.glb", KHRONOS_FOX),
    ("biped", "quaternius/modular_men/Casual.glb", QUATERNIUS_PERSON),
    ("biped", "quaternius/modular_women/Witch.glb", QUATERNIUS_PERSON),
]
"""Rigged files of the measuring side: their own bind pose, without their skeleton."""


@dataclass(frozen=True)
class Case:
    name: str
    plan: str
    vertices: np.ndarray
    faces: np.ndarray
    truth: dict[str, np.ndarray]
    """Our names, the artist's places."""


def mirrored(table: dict[str, str]) -> dict[str, str]:
    """The right side's rows, for names that end in _L, _l or begin with Left."""
    result = dict(table)
    for ours, theirs in table.items():
        if ours.startswith("left_"):
            other = theirs.replace("Left", "Right") if "Left" in theirs else theirs
            other = other[:-2] + {"_L": "_R", "_l": "_r"}.get(other[-2:], other[-2:])
            result[ours.replace("left_", "right_")] = other
    return result


def pair_case(name: str, plan: str, table: dict[str, str]) -> Case:
    model = load_character(read_asset(ASSETS / f"mesh2motion/models/model-{name}.glb"))
    rig = load_character(read_asset(ASSETS / f"mesh2motion/rigs/rig-{name}.glb"))
    assert model.mesh is not None
    positions = world_positions(rig)
    names = rig.skeleton.names
    truth = {o: positions[names.index(t)] for o, t in mirrored(table).items()}
    vertices = model.mesh.vertices.double().numpy()
    return Case(f"mesh2motion {name}", plan, vertices, model.mesh.faces.numpy(), truth)


def artist_case(plan: str, file: str, table: dict[str, str], *, trains: bool = False) -> Case:
    """A rigged file's mesh in its bind pose, and those of its joints that we have on the left and
    in the middle."""
    assert asset_trains(file) == trains, f"{file} is of the other side"
    character = load_character(read_asset(ASSETS / file))
    assert character.mesh is not None
    positions, names = world_positions(character), character.skeleton.names
    truth = {ours: positions[names.index(theirs)] for ours, theirs in table.items()}
    vertices = character.mesh.vertices.double().numpy()
    name = f"{Path(file).parts[0]} {Path(file).stem}"
    return Case(name, plan, vertices, character.mesh.faces.numpy(), truth)


def makehuman_cases() -> list[Case]:
    """The body of base.obj, without its helper geometry; joints are the middles of its cubes."""
    vertices: list[list[float]] = []
    groups: dict[str, list[list[int]]] = {}
    current: list[list[int]] = []
    for line in (ASSETS / "makehuman/base.obj").read_text().splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            vertices.append([float(x) for x in rest[:3]])
        elif word == "g":
            current = groups.setdefault(rest[0], [])
        elif word == "f":
            current.append([int(x.split("/")[0]) - 1 for x in rest])
    points = np.array(vertices) * 0.1  # decimetres
    faces = np.array([[p[0], p[i], p[i + 1]] for p in groups["body"] for i in range(1, len(p) - 1)])
    cubes = {
        name: points[np.unique([i for face in polygons for i in face])].mean(axis=0)
        for name, polygons in groups.items()
        if name.startswith("joint-")
    }
    cases = []
    for file, table in (("rig.cmu_mb.json", CMU), ("rig.game_engine.json", HUMAN)):
        given = json.loads((ASSETS / "makehuman/rigs" / file).read_text())
        bones = given.get("bones", given)
        truth = {
            ours: cubes[bones[theirs]["head"]["cube_name"]]
            for ours, theirs in mirrored(table).items()
            if theirs in bones and bones[theirs]["head"].get("strategy") == "CUBE"
        }
        used, dense = np.unique(faces, return_inverse=True)
        cases.append(
            Case(f"makehuman {file[4:-5]}", "biped", points[used], dense.reshape(-1, 3), truth)
        )
    return cases


def zoo_cases(seeds: list[int], *, trains: bool = False) -> list[Case]:
    from akd.zoo.creature import build_creature
    from akd.zoo.species.catalogue import SPECIES

    cases = []
    for seed in seeds:
        assert zoo_seed_trains(seed) == trains, f"seed {seed} is of the other side"
        for species in SPECIES:
            creature = build_creature(species, seed=seed, vertices=2500)
            places = creature.skeleton.forward(creature.skeleton.rest)[:, :3, 3].double().numpy()
            truth = dict(zip(creature.skeleton.names, places, strict=True))
            truth.pop("root")
            plan = {"humanoid": "biped"}.get(creature.plan, creature.plan)
            cases.append(
                Case(
                    f"zoo {species} {seed}", plan, creature.mesh.vertices.double().numpy(),
                    creature.mesh.faces.numpy(), truth,
                )
            )  # fmt: skip
    return cases


def draw(case: Case, found: FoundSkeleton, path: Path) -> None:
    """The mesh as grey points from the side and from the front, our bones red, the truth green."""
    from PIL import Image, ImageDraw

    size, margin = 480, 24
    picture = Image.new("RGB", (2 * size, size), "white")
    pen = ImageDraw.Draw(picture)
    low, high = case.vertices.min(axis=0), case.vertices.max(axis=0)
    scale = (size - 2 * margin) / float((high - low).max())

    def place(points: np.ndarray, view: int) -> np.ndarray:
        across = 2 if view == 0 else 0
        x = margin + (points[:, across] - low[across]) * scale + view * size
        return np.stack((x, size - margin - (points[:, 1] - low[1]) * scale), axis=1)

    for view in (0, 1):
        for x, y in place(case.vertices, view):
            pen.point((x, y), fill=(180, 180, 180))
        joints = place(found.positions, view)
        for joint, parent in enumerate(found.parents):
            if parent >= 0 and found.names[parent] != "root":
                pen.line((*joints[parent], *joints[joint]), fill=(220, 30, 30), width=2)
        for x, y in place(np.array(list(case.truth.values())), view):
            pen.ellipse((x - 3, y - 3, x + 3, y + 3), outline=(0, 130, 0), width=2)
    picture.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--report", type=Path)
    parser.add_argument("--images", type=Path)
    arguments = parser.parse_args()
    cases = [
        pair_case("fox", "quadruped", FOX), pair_case("human", "biped", HUMAN),
        pair_case("kaiju", "theropod", KAIJU), *makehuman_cases(),
        *(artist_case(*other) for other in OTHERS), *zoo_cases(arguments.seeds),
    ]  # fmt: skip
    lines = ["| body | plan | found | confidence | joints | mean, % | worst, % | worst joint |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    means: dict[str, list[float]] = {}
    for case in cases:
        found = find_skeleton(case.vertices, case.faces)
        height = float(np.ptp(case.vertices[:, 1]))
        shared = [n for n in found.names if n in case.truth]
        gaps = np.array(
            [np.linalg.norm(found.positions[found.names.index(n)] - case.truth[n]) for n in shared]
        )
        percent = 100.0 * gaps / height
        cells = f"{case.name} | {case.plan} | {found.template} | {found.confidence:.2f}"
        if len(percent) and found.template == case.plan:
            side = "zoo" if case.name.startswith("zoo") else "artists"
            means.setdefault(f"{case.plan}, {side}", []).append(float(percent.mean()))
            worst = int(percent.argmax())
            row = f"| {cells} | {len(shared)} of {len(case.truth)} | {percent.mean():.1f} | "
            row += f"{percent[worst]:.1f} | {shared[worst]} |"
        else:
            row = f"| {cells} | - | wrong plan | - | - |"
        print(row, flush=True)
        lines.append(row)
        if arguments.images:
            arguments.images.mkdir(parents=True, exist_ok=True)
            draw(case, found, arguments.images / f"rig_{case.name.replace(' ', '_')}.png")
    lines.append("")
    for plan, values in means.items():
        lines.append(f"{plan}: mean {np.mean(values):.1f} % over {len(values)} bodies.")
        print(lines[-1])
    if arguments.report:
        write_report(arguments.report, "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
