"""What tools and artists call the joints of a `StressRig`: the words of `stress_words.toml`."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.stress_rig import Joint, StressRig
from benchmarks.stress_structures import (
    Change,
    biped_links,
    chained,
    control_chains,
    face_bones,
    fingers,
    hip_above_pelvis,
    ik_targets,
    leaf_ends,
    sketchfab,
    twists,
    unchanged,
    written,
)

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_HELPERS = ("_twist", "_control", "_mechanism")
_TABLES: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("stress_words.toml").read_text("utf-8")
)
_FRONT_AND_BACK = {"fore": "front_{}", "hind": "back_{}"}
_OF_MANY_LEGS = {"upper": "a", "lower": "b", "foot": "c", "toes": "d"}


@dataclass(frozen=True)
class Convention:
    """Words for parts, and how a side is written."""

    side: Callable[[str, str], str]
    """(side, word) to the name without its prefix; side is `left`, `right` or empty."""
    words: Mapping[str, Any]
    """By part, or by limb and part (`leg upper`)."""
    prefix: str = ""
    structure: Change = unchanged
    """What comes with it."""
    decorate: Callable[[str, int], str] = field(default=lambda name, _: name)
    """Last touch, with the number of the joint."""


def named(rig: StressRig, convention: Convention) -> StressRig:
    """The rig with its joints called as the convention does."""
    rig = convention.structure(rig)
    count: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    joints = []
    for place, joint in enumerate(rig.joints):
        word = _word(joint, convention.words)
        count[word + joint.side] += 1
        number = joint.number or count[word + joint.side]
        word = word.replace("{nn}", f"{number:02d}").replace("{n}", str(number))
        name = (convention.prefix + convention.side(joint.side, word)).strip()
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}.{seen[name] - 1:03d}"
        joints.append(replace(joint, name=convention.decorate(unique, place)))
    return replace(rig, joints=tuple(joints))


def numbered(rig: StressRig) -> StressRig:
    """Names that say nothing."""
    return replace(
        rig, joints=tuple(replace(j, name=f"bone_{k}") for k, j in enumerate(rig.joints))
    )


def _word(joint: Joint, words: Mapping[str, Any]) -> str:
    part, limb = joint.part, joint.limb
    for helper in _HELPERS:
        if part.endswith(helper):
            inner = _word(replace(joint, part=part.removesuffix(helper)), words)
            return words.get(helper[1:], "{}" + helper).replace("{}", inner)
    if part in ("ik", "pole"):
        inner = _word(replace(joint, part="hand" if limb == "arm" else "foot"), words)
        return words.get(part, part + "_{}").replace("{}", inner)
    if part == "spine" and "spine_from_below" in words:
        spine = words["spine_from_below"]
        return spine[min(joint.number, len(spine)) - 1]
    if part == "end":
        return joint.key.removeprefix("left_").removeprefix("right_")
    if part.startswith("finger"):
        return words.get("finger", "{f}_0{n}").replace("{f}", FINGERS[int(part[6:])])
    if limb == "leg" and joint.number:
        return f"leg{joint.number}_{_OF_MANY_LEGS.get(part, part)}"
    for key in (f"{limb} {part}", part):
        if key in words:
            return words[key]
    if limb in _FRONT_AND_BACK:
        stem = words.get(f"leg {part}", f"leg_{part}")
        return words.get(limb, _FRONT_AND_BACK[limb]).replace("{}", stem)
    return f"{limb}_{part}" if limb else part + ("{n}" if joint.number else "")


def _after(left: str, right: str, centre: str = "") -> Callable[[str, str], str]:
    return lambda side, word: word + {"left": left, "right": right}.get(side, centre)


def _before(left: str, right: str, centre: str = "") -> Callable[[str, str], str]:
    return lambda side, word: {"left": left, "right": right}.get(side, centre) + word


def _camel(left: str, right: str) -> Callable[[str, str], str]:
    """`LeftUpLeg`."""
    return lambda side, word: (
        {"left": left, "right": right}.get(side, "") + word[:1].upper() + word[1:]
    )


def _three_js(name: str, number: int) -> str:
    """What Sketchfab and three.js leave of `thigh.L`: no dots, and a number."""
    return f"{name.replace('.', '').replace(':', '')}_{number:02d}"


def _words(name: str) -> dict[str, Any]:
    table = _TABLES[name]
    return (_TABLES[table["like"]] if "like" in table else {}) | table


def _lower_first(words: Mapping[str, Any]) -> dict[str, Any]:
    """`UpperLeg` as `upperLeg`, where no side stands before it."""
    return {k: v[:1].lower() + v[1:] if " " not in k else v for k, v in words.items()}


_WHOLE, _HALF = ("Left", "Right"), ("left", "right")
CONVENTIONS: dict[str, Convention] = {
    "Mixamo": Convention(
        _camel(*_WHOLE), _words("human_ik"), "mixamorig:", chained(fingers, leaf_ends)
    ),
    "Unreal": Convention(
        _after("_l", "_r"), _words("unreal"), "",
        chained(fingers, twists(inline=False), ik_targets, sketchfab),
    ),
    "Unity humanoid": Convention(
        _camel(*_WHOLE), _words("unity"), "", written(scale=0.01, z_up=True)
    ),
    "VRM 0 (VRoid)": Convention(
        _before("L_", "R_", "C_"), _words("vroid"), "J_Bip_", chained(fingers, face_bones)
    ),
    "VRM 1": Convention(_camel(*_HALF), _lower_first(_words("unity"))),
    "Rigify": Convention(
        _after(".L", ".R"), _words("rigify"), "DEF-",
        chained(twists(inline=True), control_chains("tops"), leaf_ends),
    ),
    "Rigify on Sketchfab": Convention(
        _after(".L", ".R"), _words("rigify"), "DEF-",
        chained(twists(inline=True), control_chains("each"), sketchfab), _three_js,
    ),
    "3ds Max Biped": Convention(
        _before("L ", "R "), _words("biped"), "Bip001 ", chained(fingers, biped_links, sketchfab)
    ),
    "Maya HumanIK": Convention(
        _camel(*_WHOLE), _words("human_ik"), "Character1_",
        chained(twists(inline=False), fingers),
    ),
    "Daz": Convention(
        _before("l", "r"), _words("daz"), "",
        chained(hip_above_pelvis, twists(inline=True), fingers, face_bones, written(scale=0.01)),
    ),
    "MakeHuman": Convention(
        _after(".L", ".R"), _words("makehuman"), "",
        chained(twists(inline=True), fingers, written(scale=0.1)),
    ),
    "CMU": Convention(_before("l", "r"), _words("cmu")),
    "SMPL": Convention(_before("L_", "R_"), _words("smpl"), "m_avg_"),
    "Auto-Rig Pro": Convention(
        _after(".l", ".r", ".x"), _words("auto_rig"), "", chained(twists(inline=False), fingers)
    ),
    "Blender with ends": Convention(
        _after(".L", ".R"), _words("blender"), "", chained(leaf_ends, ik_targets)
    ),
    "Blender on Sketchfab": Convention(
        _after(".l", ".r"), _words("blender"), "", chained(leaf_ends, sketchfab), _three_js
    ),
    "Spanish": Convention(_after("_izq", "_der"), _words("spanish")),
    "German": Convention(_after("_links", "_rechts"), _words("german")),
    "Japanese (MMD)": Convention(
        _before("左", "右"), _words("japanese"), "", chained(twists(inline=False), ik_targets)
    ),
    "Chinese": Convention(_before("左", "右"), _words("chinese")),
}  # fmt: skip
"""By what a table calls them."""
PLAIN = replace(CONVENTIONS["Unity humanoid"], structure=unchanged)
"""Names in English, and nothing else."""
