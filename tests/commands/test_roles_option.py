"""`--roles`: commands that stand on roles read a file that puts them right."""

import json

import pytest

from akd.cli import main

FOX = "khronos/Fox/glTF-Binary/Fox.glb"


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "{fox}"],
        ["skin", "{fox}", "-o", "{out}"],
        ["export", "{fox}", "-o", "{folder}", "--in-place", "--clip", "Walk"],
        ["prior", "sample", "a fox walking", "--reference", "{fox}", "-o", "{out}.png"],
    ],
)
def test_a_joint_that_is_not_there_is_one_line(command, shared_assets, tmp_path, capfd):
    roles = tmp_path / "roles.toml"
    roles.write_text('wing = "left wing upper"\n')
    places = {"fox": shared_assets / FOX, "out": tmp_path / "out.glb", "folder": tmp_path / "out"}
    arguments = [a.format(**places) for a in command]
    assert main([*arguments, "--roles", str(roles)]) == 2
    lines = [x for x in capfd.readouterr().err.splitlines() if "Warp" not in x]
    assert lines == ["akd: Fox.glb: there is no joint called 'wing'"]
    assert not (tmp_path / "out.glb").exists()


def test_roles_reach_the_character(shared_assets, tmp_path, capfd):
    roles = tmp_path / "roles.toml"
    roles.write_text('b_LeftFoot01_017 = "left hind foot"\nb_LeftFoot02_018 = "left hind toes"\n')
    assert main(["inspect", str(shared_assets / FOX), "--json", "--roles", str(roles)]) == 0
    told = json.loads(capfd.readouterr().out)
    by_name = {j["name"]: j["role"] for j in told["joints"]}
    assert by_name["b_LeftFoot01_017"] == "left hind foot"


def test_roles_of_nobody_are_refused(tmp_path, capfd):
    roles = tmp_path / "roles.toml"
    roles.write_text('head = "head"\n')
    assert main(["prior", "sample", "a fox walking", "--roles", str(roles)]) == 2
    assert "--roles needs --reference" in capfd.readouterr().err
