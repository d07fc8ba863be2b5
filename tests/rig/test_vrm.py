"""VRM: a glTF whose humanoid map gives roles and whose extensions pass through."""

from dataclasses import replace

import pytest

from akd.api.loading import load
from akd.asset.read import read_asset
from akd.export.character import write_motions
from akd.export.gltf.write import write_glb
from akd.motion.clip import motion_from_clip
from akd.rig.role_file import parse_role
from tests.assets import SHARED_ASSETS

HUMAN = SHARED_ASSETS / "khronos" / "CesiumMan" / "glTF-Binary" / "CesiumMan.glb"
BONES = {
    "hips": 3,
    "chest": 12,
    "leftUpperLeg": 8,
    "leftLowerLeg": 9,
    "leftFoot": 10,
    "leftThumbProximal": 4,
    "head": 10**9,
}


@pytest.mark.parametrize("version", ["0.x", "1.0"])
def test_roles_and_extensions(version, tmp_path):
    if not HUMAN.exists():
        pytest.skip("needs the shared assets")
    document = read_asset(HUMAN).document
    assert document is not None
    spring = {"springs": [{"name": "hair", "joints": [{"node": 5, "stiffness": 0.5}]}]}
    if version == "1.0":
        bones = {bone: {"node": node} for bone, node in BONES.items()}
        extensions = {
            "VRMC_vrm": {
                "specVersion": "1.0",
                "meta": {"name": "a"},
                "humanoid": {"humanBones": bones},
            },
            "VRMC_springBone": spring,
        }
    else:
        listed = [{"bone": bone, "node": node} for bone, node in BONES.items()]
        extensions = {
            "VRM": {"humanoid": {"humanBones": listed}, "secondaryAnimation": spring, "meta": {}}
        }
    json = {**document.json, "extensions": extensions, "extensionsUsed": list(extensions)}
    path = tmp_path / "avatar.vrm"
    write_glb(replace(document, json=json), path)
    character = load(path)
    names = [node.name for node in character.asset.nodes]
    assert str(character.anatomy.roles[12]) == "spine 2"
    assert str(character.anatomy.roles[10]) == "left leg foot"
    given = load(path, roles={names[12]: parse_role("spine 1")})
    assert str(given.anatomy.roles[12]) == "spine 1"
    motion = motion_from_clip(character, character.asset.clips[0])
    write_motions(character, [motion], tmp_path / "out.vrm")
    written = read_asset(tmp_path / "out.vrm").document
    assert written is not None
    assert written.json["extensions"] == extensions
    assert written.json["extensionsUsed"] == list(extensions)
