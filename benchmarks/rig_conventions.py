"""Feet, sides and kinds of limbs of known bodies in the conventions of other tools.

Creatures of the zoo, whose joints are known, and files of the development half are written with the
names and helpers of Mixamo, Unreal, Rigify and others (`stress_names`), and with changes of
structure that exporters and artists make (`stress_structures`), with names and without. Bodies that
are put together of several, other poses and further parts are in `stress_bodies`; what more tools
do to a skeleton is in `stress_tools`.

    python -m benchmarks.rig_conventions [--bodies man fox] [--report FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from akd.asset.read import read_asset
from akd.rig.character import Character, load_character
from akd.zoo.creature import build_creature
from benchmarks import roles
from benchmarks.measured import write_report
from benchmarks.stress_bodies import BODIES, POSES_AND_PARTS
from benchmarks.stress_names import CONVENTIONS, PLAIN, named, numbered
from benchmarks.stress_rig import Joint, StressRig, from_character, from_creature, to_asset
from benchmarks.stress_structures import STRUCTURES, Change
from benchmarks.stress_tools import TOOLS

SEED = 1010
"""Of the zoo: on the training side, and not one that the shapes of limbs were fitted to."""
PEOPLE = ("man", "woman", "child")
ANIMALS = ("fox", "horse", "trex", "ostrich", "crow", "dragon", "frog", "spider", "trout")
FILES = (
    "kaykit/Rogue_Hooded.glb",
    "quaternius/universalanimationlibrary/ual1_standard.glb",
    "quaternius/animals_pack/Deer.glb",
    "quaternius/dinosaurs_pack/Trex.glb",
    "kenney/mini-characters/character_male_f.glb",
    "quaternius/sushirestaurantkit/panda.glb",
)
"""Of the development half, each read right as made."""
PEOPLE_ONLY = {
    "Daz",
    "MakeHuman",
    "CMU",
    "SMPL",
    "cape",
    "hair",
    "skirt",
    "T-pose, hair, skirt, cape",
    "arms forward",
    "arms overhead",
    "flesh",
    "robe",
    "tentacles",
    "one arm shorter",
    "share bones",
    "D-bones",
    "no legs",
    "arms alone",
    "crouched",
    "relaxed",
    "crouched, arms ahead",
    "one leg a peg",
    "backpack and arrows",
    "mannequin of Unreal 5",
    "Character Creator",
}
"""What is made for people alone."""
FACES_BACK = "quaternius/universalanimationlibrary/ual1_standard.glb"
"""Faces -Z, which poses and parts do not allow for."""


@dataclass(frozen=True)
class Case:
    """One body in one convention."""

    body: str
    convention: str
    variant: str
    """`names` or `no names`."""
    rig: StressRig


@dataclass(frozen=True)
class Verdict:
    """What was found of a case."""

    case: Case
    found: list[str]
    """Mistakes in feet, sides and kinds of limbs; empty where all is right."""
    joints: list[str]
    """Upper and lower segments of limbs that were given to other joints."""


@cache
def body(name: str) -> StressRig:
    """A creature of the zoo, one made of several, or a file."""
    if name in BODIES:
        return BODIES[name]()
    if name.endswith(".glb"):
        return from_character(load_character(read_asset(roles.ASSETS / name)))
    return from_creature(build_creature(name, seed=SEED, vertices=1500))


def cases(bodies: tuple[str, ...]) -> Iterator[Case]:
    """Every body in every convention that it can have."""
    for name in bodies:
        rig = body(name)
        is_person = any(j.limb == "arm" and j.part == "girdle" for j in rig.joints)
        is_made = name in BODIES
        for convention, words in ({} if is_made else CONVENTIONS).items():
            if is_person or convention not in PEOPLE_ONLY:
                yield Case(name, convention, "names", named(rig, words))
        changes = {"as made": STRUCTURES["as made"]} if is_made else STRUCTURES
        for structure, change in (changes | _poses_and_parts(name, rig)).items():
            if not is_person and structure in PEOPLE_ONLY:
                continue
            changed = change(rig)
            if changed is rig and structure != "as made":
                continue
            yield Case(name, structure, "names", named(changed, PLAIN))
            yield Case(name, structure, "no names", numbered(changed))


def _poses_and_parts(name: str, rig: StressRig) -> dict[str, Change]:
    """Those that a body has the joints for."""
    if name == FACES_BACK or not (rig.has("head") and rig.has("pelvis")):
        return {}
    return POSES_AND_PARTS | TOOLS


def judge(case: Case) -> Verdict:
    """Read a case as a file, and compare with what is known."""
    asset = to_asset(case.rig)
    character = load_character(asset)
    first = len(case.rig.armature.holders)
    keys = [f"#{i}" for i in range(len(asset.nodes))]
    keys[first : first + len(case.rig.joints)] = [_driven(j) for j in case.rig.joints]
    # Without names nothing tells a foot from its toes, nor do the names of a spider's.
    is_told = case.variant == "names" and len(case.rig.limbs()) < 8
    ends = (("foot",),) if is_told else (("foot",), ("toes", "foot"))
    every = [
        [
            m
            for m in roles.mistakes(character, tuple(keys), label_of(case.rig, e))
            if m not in ("head", "tail")
        ]
        for e in ends
    ]
    found = min(every, key=len)
    return Verdict(case, found, [] if found else _wrong_segments(case.rig, character, keys))


def _driven(joint: Joint) -> str:
    """The key that the truth knows: a bone that a control of its own holds is moved by that."""
    if joint.parent == f"ctrl_{joint.key}":
        return f"held {joint.key}"
    return joint.key.removeprefix("ctrl_") if joint.holds else joint.key


def label_of(rig: StressRig, feet: tuple[str, ...]) -> roles.Label:
    """The truth: legs stand on the first of these parts that they have, else on their end."""
    pairs: dict[str, list[list[str]]] = {}
    moving = {j.key for j, w in zip(rig.joints, rig.weights.sum(axis=0), strict=True) if w > 1e-3}
    legs = sorted(x for x in rig.limbs() if x[0] == "left" and x[1] in roles.LEGS)
    for _, limb, number in [x for x in rig.limbs() if x[0] == "left"]:
        chains = [rig.chain(side, limb, number) for side in ("left", "right")]
        if not any(j.key in moving for j in chains[0]):
            continue
        if limb in roles.LEGS:
            kind = limb
            if len(legs) > 2 and limb == "leg":
                place = [x[2] for x in legs].index(number)
                kind = "fore" if place == 0 else "hind" if place == len(legs) - 1 else "mid"
            pairs.setdefault(kind, []).append([_foot(c, feet).key for c in chains])
        else:
            ends = [next(j for j in reversed(c) if j.key in moving) for c in chains]
            pairs.setdefault(limb, []).append([j.key for j in ends])
    return roles.Label(rig.species, "", pairs, None, None)


def _foot(chain: list[Joint], feet: tuple[str, ...]) -> Joint:
    for part in feet:
        if named_so := [j for j in chain if j.part == part]:
            return named_so[0]
    return chain[-1]


def _wrong_segments(rig: StressRig, character: Character, keys: list[str]) -> list[str]:
    """Upper and lower segments that are something else to the reader."""
    wrong = []
    whole = {limb for limb in rig.limbs() if len(rig.chain(*limb)) > 2}
    for joint in rig.joints:
        if joint.part in ("upper", "lower") and (joint.side, joint.limb, joint.number) in whole:
            role = character.anatomy.roles[keys.index(joint.key)]
            if role.limb is not None and role.part.value != joint.part:
                wrong.append(f"{joint.key} is the {role}")
    return wrong


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", nargs="+", default=[*PEOPLE, *ANIMALS, *FILES, *BODIES])
    parser.add_argument("--conventions", nargs="+", help="only these")
    parser.add_argument("--report", type=Path, help="write the tables here, as Markdown")
    arguments = parser.parse_args()
    verdicts = []
    for case in cases(tuple(arguments.bodies)):
        if arguments.conventions and case.convention not in arguments.conventions:
            continue
        verdict = judge(case)
        verdicts.append(verdict)
        if verdict.found or verdict.joints:
            what = "; ".join(verdict.found) or "SEGMENTS " + "; ".join(verdict.joints)
            print(f"{case.body} | {case.convention} | {case.variant} | {what}", flush=True)
    text = _tables(verdicts)
    print(text)
    if arguments.report:
        write_report(arguments.report, text)


def _tables(verdicts: list[Verdict]) -> str:
    lines = ["| convention | bodies | names | no names | segments |", "|" + " --- |" * 5]
    for convention in dict.fromkeys(v.case.convention for v in verdicts):
        mine = [v for v in verdicts if v.case.convention == convention]
        cells = []
        for variant in ("names", "no names"):
            chosen = [v for v in mine if v.case.variant == variant]
            cells.append(f"{sum(not v.found for v in chosen)} of {len(chosen)}" if chosen else "")
        right = [v for v in mine if not v.found]
        cells.append(f"{sum(not v.joints for v in right)} of {len(right)}")
        bodies = len({v.case.body for v in mine})
        lines.append(f"| {convention} | {bodies} | {' | '.join(cells)} |")
    for variant in ("names", "no names"):
        chosen = [v for v in verdicts if v.case.variant == variant]
        right = sum(not v.found for v in chosen)
        share = 100.0 * right / max(len(chosen), 1)
        lines += ["", f"With {variant}: {right} of {len(chosen)} are right ({share:.1f} %)."]
    lines += ["", "| body | names | no names |", "| --- | --- | --- |"]
    for name in dict.fromkeys(v.case.body for v in verdicts):
        cells = []
        for variant in ("names", "no names"):
            chosen = [v for v in verdicts if (v.case.body, v.case.variant) == (name, variant)]
            cells.append(f"{sum(not v.found for v in chosen)} of {len(chosen)}")
        lines.append(f"| {Path(name).stem} | {' | '.join(cells)} |")
    lines += ["", "| body | convention | variant | what is wrong |", "|" + " --- |" * 4]
    for v in (v for v in verdicts if v.found):
        cells = (Path(v.case.body).stem, v.case.convention, v.case.variant, "; ".join(v.found))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
