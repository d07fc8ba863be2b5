"""Every real character: read whole, and as the list that came with them says it is."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from akd.asset.image import decode_image
from akd.asset.read import read_asset

ODD = {
    "mesh2motion/animations/quad-creature-animations-2025.glb": {"87 channels move"},
    "quaternius/easy_enemies_pack/Wasp.glb": {"3 vertices have weights", "3 of 5423 vertices",
                                              "3 of 1073 vertices"},
    "quaternius/fish_pack/Whale.glb": {"3 triangles name"},
    "threejs/RobotExpressive/RobotExpressive.glb": {
        "1 triangles name", "2 triangles name", "weights of 174", "weights of 193"
    },
}  # fmt: skip
"""The files that have problems, and how each kind of problem begins. All others have none."""

SUMMARISE = """
import json, sys
import numpy as np
from akd.asset.read import read_asset
from akd.asset.image import decode_image
for path in sys.stdin.read().splitlines():
    asset = read_asset(path)
    parts = [part for mesh in asset.meshes for part in mesh.parts]
    shown = [p for n in asset.nodes if n.mesh is not None for p in asset.meshes[n.mesh].parts]
    tracks = [track for clip in asset.clips for track in clip.tracks]
    weights = [part.weights for part in parts if part.weights is not None]
    print(json.dumps({
        "problems": [problem.what for problem in asset.problems],
        "vertices": sum(len(part.positions) for part in shown),
        "faces": sum(len(part.faces) for part in shown),
        "joints": "+".join(str(len(skin.joints)) for skin in asset.skins),
        "clips": [[clip.name, clip.start, clip.end] for clip in asset.clips],
        "sound": bool(
            all(np.isfinite(part.positions).all() for part in parts)
            and all(part.faces.max() < len(part.positions) for part in parts)
            and all((w >= 0).all() and abs(w.sum(axis=1) - 1).max() < 1e-5 for w in weights)
            and all((np.diff(track.times) > 0).all() for track in tracks)
            and all(np.isfinite(track.values).all() for track in tracks)
        ),
    }))
assert "torch" not in sys.modules, "to read a file must need no torch"
"""


@pytest.fixture(scope="module")
def manifest(shared_assets: Path) -> dict[str, dict[str, str]]:
    with (shared_assets / "MANIFEST.tsv").open(newline="") as file:
        rows = {row["path"]: row for row in csv.DictReader(file, delimiter="\t")}
    suffixes = (".glb", ".gltf")
    return {
        path: row
        for path, row in rows.items()
        if path.endswith(suffixes) and not path.startswith("robustness/")
    }


@pytest.mark.slow
def test_every_character_is_what_its_list_says(shared_assets: Path, manifest: dict) -> None:
    # In a process of its own, where shapes are not checked at every call: that takes a minute.
    paths = "\n".join(str(shared_assets / path) for path in manifest)
    result = subprocess.run(
        [sys.executable, "-c", SUMMARISE], input=paths, text=True, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    summaries = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(summaries) == len(manifest) > 90
    for (path, row), summary in zip(manifest.items(), summaries, strict=True):
        assert summary["sound"], path
        problems, odd = summary["problems"], ODD.get(path, set())
        assert {begin for begin in odd if any(p.startswith(begin) for p in problems)} == odd, path
        assert all(problem.startswith(tuple(odd)) for problem in problems), (path, problems)
        degenerate = sum(int(what.split()[0]) for what in problems if "triangles name" in what)
        vertices, faces = map(int, row["verts/faces"].split("/"))
        assert (summary["vertices"], summary["faces"] + degenerate) == (vertices, faces), path
        assert (summary["joints"] or "0") == (row["joints"] or "0"), path
        listed = [clip.rpartition(" ") for clip in row["clips"].split("; ") if clip]
        names, lengths = [c[0] for c in listed], [float(c[2].rstrip("s")) for c in listed]
        assert [name or "(unnamed)" for name, *_ in summary["clips"]] == names, path
        for (_, start, end), length in zip(summary["clips"], lengths, strict=True):
            # The list counts some files from zero, wherever the first key is.
            assert min(abs(end - start - length), abs(end - length)) < 6e-4, path


def test_textures_of_real_characters_can_be_decoded(shared_assets: Path) -> None:
    for path, shape in (
        ("khronos/Fox/glTF-Binary/Fox.glb", (1024, 1024, 4)),
        ("khronos/CesiumMan/glTF/CesiumMan.gltf", (1024, 1024, 4)),
        ("kenney/character.glb", (512, 512, 4)),
    ):
        asset = read_asset(shared_assets / path)
        shown = {material.image for material in asset.materials} - {None}
        assert shown
        for index in shown:
            assert decode_image(asset.images[index]).shape == shape
