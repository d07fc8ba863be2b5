import pytest

from akd.asset.read import read_asset
from akd.cli import main
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A man with two clips, a child, and a dog."""
    folder = tmp_path_factory.mktemp("bodies")
    man = build_creature("man", vertices=800)
    clips = [make_clip(man, action, cycles=1) for action in ("walk", "stand")]
    write_creature(man, clips, folder / "man.glb")
    for species in ("child", "dog"):
        write_creature(build_creature(species, vertices=800), [], folder / f"{species}.glb")
    return folder


@pytest.mark.slow
def test_retarget_adds_the_clip(files, tmp_path, capsys):
    out = tmp_path / "out.glb"
    given = [f"{files / 'man.glb'}:walk", str(files / "child.glb"), "-o", str(out)]
    assert main(["retarget", *given, "--name", "stroll"]) == 0
    assert [clip.name for clip in read_asset(out).clips] == ["stroll"]
    assert "stroll" in capsys.readouterr().out


@pytest.mark.slow
def test_the_name_that_is_said_is_the_one_in_the_file(files, tmp_path, capsys):
    out = tmp_path / "out.glb"
    given = [f"{files / 'man.glb'}:walk", str(files / "man.glb"), "-o", str(out), "--no-plant"]
    assert main(["retarget", *given]) == 0
    assert [clip.name for clip in read_asset(out).clips] == ["walk", "stand", "walk 2"]
    assert "'walk 2'" in capsys.readouterr().out


@pytest.mark.slow
def test_bvh_is_written_of_the_skeleton(files, tmp_path):
    out = tmp_path / "out.bvh"
    given = [f"{files / 'man.glb'}:walk", str(files / "child.glb"), "-o", str(out), "--no-plant"]
    assert main(["retarget", *given]) == 0
    assert read_asset(out).clips


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clip", "target", "more", "said"),
    [
        ("man.glb:walk", "dog.glb", (), "man.glb has 2 legs and dog.glb has 4 legs"),
        ("man.glb", "child.glb", (), "has several clips, choose one as man.glb:NAME: '"),
        ("man.glb:fly", "child.glb", (), "there is no clip 'fly'"),
        ("man.glb:walk", "child.glb", ("--map", "head"), "--map must be SOURCE=TARGET"),
        ("man.glb:walk", "child.glb", ("--map", "nose=head"), "must be a driven joint"),
        ("none.glb:walk", "child.glb", (), "there is no such file"),
        ("man.glb:walk", "child.glb", ("--fps", "0"), "--fps must be from 1 to 240"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(files, tmp_path, capsys, clip, target, more, said):
    out = tmp_path / "out.glb"
    given = [str(files / clip), str(files / target), "-o", str(out), *more]
    assert main(["retarget", *given]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_the_suffix_says_the_format(files, tmp_path, capsys):
    given = [f"{files / 'man.glb'}:walk", str(files / "child.glb"), "-o", str(tmp_path / "a.fbx")]
    assert main(["retarget", *given]) == 2
    assert "--out must end in .glb or .bvh" in capsys.readouterr().err
