"""Which files of a folder of assets train the pose space, and which measure it."""

from akd.posespace.collect import asset_side


def write(folder, rows):
    lines = ["path\tfamily"]
    for path, family in rows.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
        if family:
            lines.append(f"{path}\t{family}")
    (folder / "MANIFEST.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_families_that_share_animation_with_a_training_file_do_not_measure(tmp_path):
    write(
        tmp_path,
        {
            "quaternius/animals_pack/Husky.glb": "",
            "quaternius/animals_pack/Wolf.glb": "",
            "quaternius/kit/pug.glb": "dogs [also shared Wolf, Husky]",
            "quaternius/kit/mech.glb": "mechs [also shared George]",
            "khronos/Fox/glTF/Fox.gltf": "",
            "khronos/Fox/glTF-Binary/Fox.glb": "",
            "cmu_bvh/01_01.bvh": "",
        },
    )
    assert asset_side(tmp_path, training=True) == [
        ("cmu_bvh/01_01.bvh", "cmu_bvh"),
        ("quaternius/animals_pack/Husky.glb", "quaternius/animals_pack"),
    ]
    assert asset_side(tmp_path, training=False) == [
        ("khronos/Fox/glTF-Binary/Fox.glb", "khronos/Fox"),
        ("khronos/Fox/glTF/Fox.gltf", "khronos/Fox"),
        ("quaternius/kit/mech.glb", "mechs [also shared George]"),
    ]
