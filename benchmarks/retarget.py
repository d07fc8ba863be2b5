"""Retargeting over 60 pairs of a clip and a body, beside copying rotations without planting.

    python -m benchmarks.retarget --assets ASSETS --mocap MOCAP          measuring side
    python -m benchmarks.retarget --assets ASSETS --mocap MOCAP --training

Skate is in leg lengths a second, of points near the floor; that of the source is above each foot's
own floor, with the travel that a clip on the spot implies. Penetration is in % of body height.
"Beyond" is the largest angle beyond a joint's range of motion, degrees. "Back" is the mean distance
of the driven joints after retargeting back onto the source, in % of its height.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import torch

from akd.api.loading import load
from akd.base.splits import asset_trains, mocap_trains, zoo_seed_trains
from akd.metrics.motion import measure
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import find_clip
from akd.motion.contact import floor_height, implied_velocity, skate_speed
from akd.motion.feet import leg_length, track_feet
from akd.motion.footing.floor import find_floor
from akd.motion.grid import on_grid
from akd.motion.library import without_calibration
from akd.motion.motion import Motion
from akd.motion.retargeting.retarget import retarget
from akd.rig.character import Character
from akd.rig.limits import AngleLimits
from akd.zoo import build_creature, make_clip
from benchmarks.measured import write_report
from benchmarks.zoo_character import as_character

FPS, SECONDS, START = 30.0, 2.0, 0.5
SIDES = {
    "measuring": {
        "two legs": (
            (
                "mocap/38_01.bvh", "mocap/113_07.bvh", "mocap/143_24.bvh", "mocap/143_23.bvh",
                "mocap/93_03.bvh", "mocap/143_18.bvh", "mocap/118_01.bvh", "mocap/113_01.bvh",
                "mocap/143_41.bvh", "mocap/113_27.bvh",
                "assets/threejs/RobotExpressive/RobotExpressive.glb:Walking",
                "assets/threejs/RobotExpressive/RobotExpressive.glb:Dance",
                "assets/godot/player.glb:walk",
                "assets/khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
                "assets/quaternius/rpg_characters/monk.glb:Run",
                "assets/quaternius/single_knight_pack/KnightCharacter.glb:Walk",
            ),
            (
                "assets/threejs/RobotExpressive/RobotExpressive.glb",
                "assets/khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
                "assets/quaternius/rpg_characters/monk.glb",
                "assets/quaternius/single_knight_pack/KnightCharacter.glb",
                "assets/quaternius/cyberpunkgamekit/character.glb", "zoo/woman:7", "zoo/ogre:4",
            ),
            42,
        ),
        "four legs": (
            (
                "assets/quaternius/animals_pack/Wolf.glb:Walk",
                "assets/quaternius/animals_pack/Wolf.glb:Gallop",
                "assets/khronos/Fox/glTF-Binary/Fox.glb:Walk",
                "assets/khronos/Fox/glTF-Binary/Fox.glb:Run", "zoo/horse:3:trot", "zoo/cat:2:walk",
                "zoo/elephant:5:walk",
                "assets/quaternius/zombieapocalypsekit/characters_german_shepherd.glb:Walk",
            ),
            (
                "assets/quaternius/animals_pack/Fox.glb", "assets/khronos/Fox/glTF-Binary/Fox.glb",
                "assets/quaternius/zombieapocalypsekit/characters_german_shepherd.glb",
                "zoo/dog:4", "zoo/horse:1",
                "zoo/giraffe:2", "assets/quaternius/zombieapocalypsekit/characters_pug.glb",
            ),
            18,
        ),
    },
    "training": {
        "two legs": (
            (
                "mocap/02_01.bvh", "mocap/09_01.bvh", "mocap/135_04.bvh", "mocap/05_02.bvh",
                "mocap/02_05.bvh", "assets/kaykit/Rogue_Hooded.glb:Running_A",
            ),
            (
                "assets/quaternius/modular_men/King.glb",
                "assets/quaternius/ultimate_monsters/Orc.glb",
                "assets/mesh2motion/models-variation/human-bunny.glb", "zoo/man:1003",
            ),
            12,
        ),
        "four legs": (
            (
                "assets/quaternius/animals_pack/Deer.glb:Walk",
                "assets/quaternius/animals_pack/Bull.glb:Gallop", "zoo/lion:1002:trot",
            ),
            (
                "assets/mesh2motion/models-variation/fox-dog.glb",
                "assets/quaternius/animals_pack/Donkey.glb", "zoo/bear:1004", "zoo/fox:1001",
            ),
            8,
        ),
    },
}  # fmt: skip
"""Clips, bodies and number of pairs of each side and plan. Clips and bodies are paired in turn; no
clip goes to its own body."""


@dataclass(frozen=True)
class Row:
    """What became of one pair."""

    plan: str
    clip: str
    body: str
    skate_source: float
    skate_naive: float
    skate: float
    penetration_naive: float
    penetration: float
    beyond_naive: float
    beyond: float
    back: float


class Bodies:
    """Characters and motions by the names of `SIDES`."""

    def __init__(self, folders: dict[str, Path], *, training: bool) -> None:
        self.folders, self.training = folders, training

    @lru_cache(maxsize=6)  # noqa: B019
    def character(self, name: str) -> Character:
        """The body of a file or of the zoo."""
        kind, _, rest = name.partition("/")
        if kind == "zoo":
            species, seed = rest.split(":")[:2]
            assert zoo_seed_trains(int(seed)) == self.training, name
            return as_character(build_creature(species, seed=int(seed), vertices=1500))
        path = rest.partition(":")[0]
        trains = mocap_trains(path) if kind == "mocap" else asset_trains(path)
        assert trains == self.training, name
        return load(self.folders[kind] / path)

    def clip(self, name: str) -> tuple[Character, Motion]:
        """A clip and its body."""
        kind, _, rest = name.partition("/")
        if kind == "zoo":
            species, seed, action = rest.split(":")
            creature = build_creature(species, seed=int(seed), vertices=1500)
            return self.character(f"zoo/{species}:{seed}"), make_clip(creature, action, cycles=1)
        body = self.character(name.partition(":")[0])
        wanted = name.partition(":")[2]
        record = find_clip(body, wanted) if wanted else body.asset.clips[0]
        motion = without_calibration(motion_from_clip(body, record))
        if motion.duration > SECONDS + START:
            times = START + torch.arange(int(SECONDS * FPS) + 1) / FPS
            motion = motion.sample(motion.times[0] + times)
        return body, motion


def pairs(side: str) -> list[tuple[str, str, str]]:
    """Plan, clip and body of every pair."""
    found = []
    for plan, (clips, bodies, count) in SIDES[side].items():
        offers = [
            (plan, clip, bodies[(index + turn * 2 + 1) % len(bodies)])
            for turn in range(len(bodies))
            for index, clip in enumerate(clips)
        ]
        offers = [p for p in dict.fromkeys(offers) if p[1].split(":")[0] != p[2].split(":")[0]]
        found += offers[:count]
    return found


def source_skate(character: Character, motion: Motion) -> float:
    """Skate of a clip above its own floor, leg lengths a second."""
    rig = character.control_rig
    motion = on_grid(motion, FPS)
    root = motion.world()[:, rig.root, :3, 3]
    feet = [track.sole for track in track_feet(character, rig, motion)]
    floor = find_floor(feet, root, body_height=character.height)
    up = root.new_tensor((0.0, 1.0, 0.0))
    feet = [foot - floor.under(foot)[..., None] * up for foot in feet]
    velocity = implied_velocity(
        feet, root, forward=character.forward, fps=FPS, body_height=character.height
    )
    if velocity is not None:
        gone = torch.arange(len(root))[:, None] / FPS * velocity
        feet = [foot + gone[:, None] for foot in feet]
    feet = [foot - floor_height(foot[..., 1].amin(1)) * up for foot in feet]
    return _skate(character, feet)


def _skate(character: Character, feet: list[torch.Tensor]) -> float:
    speeds = [skate_speed(foot, fps=FPS, body_height=character.height) for foot in feet]
    return sum(speeds) / len(speeds) / leg_length(character, character.control_rig)


def judge(bodies: Bodies, plan: str, clip: str, body: str) -> Row:
    """Retarget one pair, with and without planting, and back."""
    source, motion = bodies.clip(clip)
    target = bodies.character(body)
    rig = target.control_rig
    limits = AngleLimits.range_of_motion(rig)
    found, made = {}, motion
    for plant in (False, True):
        made = retarget(source, motion, target, fps=FPS, plant=plant, travel=True)
        angles = rig.from_pose(made.pose).angles
        soles = [track.sole for track in track_feet(target, rig, made)]
        found[plant] = (
            _skate(target, soles),
            100.0 * measure(target, rig, made).penetration,
            math.degrees(float((angles - limits.clamped(angles)).abs().max())),
        )
    back = retarget(target, made, source, fps=FPS, travel=True)
    return Row(
        plan, clip, body, source_skate(source, motion), found[False][0], found[True][0],
        found[False][1], found[True][1], found[False][2], found[True][2],
        100.0 * _distance(source, on_grid(motion, FPS), back),
    )  # fmt: skip


def _distance(character: Character, motion: Motion, back: Motion) -> float:
    """Mean distance of the driven joints, body heights; the motions start at the same place, and
    the travel that was added to a clip on the spot is left out."""
    rig = character.control_rig
    joints = [rig.root, *rig.joints]
    count = min(len(motion), len(back))
    places = [m.world()[:count, joints, :3, 3] for m in (motion, back)]
    level = places[0].new_tensor((1.0, 0.0, 1.0))
    if float((places[0][-1, 0] - places[0][0, 0]).norm()) < 0.25 * character.height:
        places = [p - p[:, :1] * level for p in places]
    gap = places[1] - places[0]
    # Where a clip's floor is not at zero it comes back on one that is.
    return float((gap - gap.mean((0, 1))).norm(dim=-1).mean()) / character.height


def tables(rows: list[Row], side: str) -> str:
    """The report, as Markdown."""
    lines = [
        f"{len(rows)} pairs, {side} side, {SECONDS:g} s of each clip at {FPS:g} frames a second.\n",
        "| condition | copied rotations | retargeted |",
        "| --- | --- | --- |",
    ]
    conditions = {
        "skate at most the source's": (
            [r.skate_naive <= r.skate_source for r in rows],
            [r.skate <= r.skate_source for r in rows],
        ),
        "penetration below 0.5 % of height": (
            [r.penetration_naive < 0.5 for r in rows],
            [r.penetration < 0.5 for r in rows],
        ),
        "joint limits kept": (
            [r.beyond_naive < 0.5 for r in rows],
            [r.beyond < 0.5 for r in rows],
        ),
    }
    for name, (naive, ours) in conditions.items():
        lines.append(f"| {name} | {sum(naive)} | {sum(ours)} |")
    lines.append(f"| back within 3 % of height | | {sum(r.back <= 3.0 for r in rows)} |")
    mean = {key: sum(getattr(r, key) for r in rows) / len(rows) for key in _NUMBERS}
    lines += [
        f"| skate, leg lengths a second (source {mean['skate_source']:.2f}) | "
        f"{mean['skate_naive']:.2f} | {mean['skate']:.2f} |",
        f"| penetration, % of height | {mean['penetration_naive']:.2f} | "
        f"{mean['penetration']:.2f} |",
        f"| back, % of height | | {mean['back']:.2f} |",
        "",
        "| clip | body | skate of source | copied | retargeted | penetration | beyond | back |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in rows:
        clip, body = (text.rpartition("/")[2] for text in (r.clip, r.body))
        lines.append(
            f"| {clip} | {body} | {r.skate_source:.2f} | {r.skate_naive:.2f} | {r.skate:.2f} | "
            f"{r.penetration:.2f} | {r.beyond:.1f} | {r.back:.1f} |"
        )
    return "\n".join(lines) + "\n"


_NUMBERS = ("skate_source", "skate_naive", "skate", "penetration_naive", "penetration", "back")


def main() -> None:
    """Run all pairs; what `--rows` holds already is not run again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--mocap", type=Path, required=True)
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--rows", type=Path, help="JSON lines, one a pair: a run can go on")
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    side = "training" if args.training else "measuring"
    bodies = Bodies({"assets": args.assets, "mocap": args.mocap}, training=args.training)
    done: dict[tuple[str, str], Row] = {}
    if args.rows and args.rows.exists():
        for line in args.rows.read_text().splitlines():
            row = Row(**json.loads(line))
            done[row.clip, row.body] = row
    for plan, clip, body in pairs(side):
        if (clip, body) in done:
            continue
        row = judge(bodies, plan, clip, body)
        done[clip, body] = row
        print(json.dumps(asdict(row)), flush=True)
        if args.rows:
            with args.rows.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    text = tables([done[clip, body] for _, clip, body in pairs(side)], side)
    print(text)
    if args.report:
        write_report(args.report, text)


if __name__ == "__main__":
    main()
