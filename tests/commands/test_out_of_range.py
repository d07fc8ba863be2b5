"""Bodies and clips that float32 cannot compute with are one line, before any work or file."""

import pytest

from akd.cli import main
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip
from tests.asset import unusual


@pytest.fixture(scope="module")
def man(tmp_path_factory):
    path = tmp_path_factory.mktemp("bodies") / "man.glb"
    creature = build_creature("man", vertices=600)
    write_creature(creature, [make_clip(creature, "walk", cycles=1)], path)
    return path


def flat(file):
    """All vertices in one place, as an accessor without a buffer says."""
    count = len(unusual.values(file, unusual.attributes(file)["POSITION"]))
    place = file.add("accessors", componentType=5126, count=count, type="VEC3")
    unusual.attributes(file)["POSITION"] = place


def far(file):
    unusual.hold(file, translation=[0.0, 1e6, 0.0])


def scaled(file):
    unusual.hold(file, scale=[1e20] * 3)


def leaping(file):
    """A joint of the clip moves far away."""
    for channel in file.json["animations"][0]["channels"]:
        if channel["target"]["path"] == "translation":
            sampler = unusual.samplers(file)[channel["sampler"]]
            keys = unusual.values(file, sampler["output"])
            keys[len(keys) // 2] = 1e30
            sampler["output"] = file.accessor(keys)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flat, "has a body without height"),
        (far, "the body's joints must be within 100,000 body heights of the origin, got"),
        (scaled, "the body's joints must be scaled by 1e-09 to 1e+09, got 1e+20"),
        (leaping, "clip 'walk': the body's joints must be within 100,000 body heights"),
    ],
    ids=["flat", "far", "scaled", "leaping"],
)
def test_it_is_one_line(man, tmp_path, capsys, change, said):
    file = unusual.open_glb(man)
    change(file)
    odd, out = file.write(tmp_path / "odd.glb"), tmp_path / "out"
    commands = [["retarget", odd, man, "-o", out / "clip.glb"], ["ground", odd, "-o", out]]
    if change is not leaping:
        commands.append(["retarget", man, odd, "-o", out / "clip.glb"])
        commands.append(["animate", odd, "a man walking", "-o", out])
    for words in commands:
        assert main(list(map(str, words))) == 2
        (line,) = (x for x in capsys.readouterr().err.splitlines() if x.startswith("akd: "))
        assert line.startswith(f"akd: {odd}: {said}")
        assert not [path for path in out.rglob("*") if path.name != "lock"], words
