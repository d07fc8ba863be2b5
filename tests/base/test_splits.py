"""What trains and what measures."""

import csv
from collections import defaultdict

import pytest

from akd.base.splits import (
    _splits,
    asset_trains,
    mocap_trains,
    pose_file_trains,
    pose_species_trains,
    zoo_seed_trains,
)
from akd.posespace.collect import asset_side
from benchmarks.distill_cases import ACTORS, NEW_ACTORS


def test_the_demos_fox_and_other_small_seeds_only_measure():
    assert not zoo_seed_trains(0)
    assert not zoo_seed_trains(999)
    assert zoo_seed_trains(1000)


def test_assets_measure_unless_they_are_listed():
    assert asset_trains("quaternius/animals_pack/Deer.glb")
    assert asset_trains("quaternius/dinosaurs_pack/Trex.glb")
    assert not asset_trains("quaternius/animals_pack/Husky.glb")
    assert not asset_trains("khronos/Fox/glTF-Binary/Fox.glb")


def test_own_files_train_where_they_lie_in_the_folder_for_that():
    assert asset_trains("training/dog.glb")
    assert asset_trains("training/more/dog.glb")
    assert not asset_trains("dog.glb")
    assert not asset_trains("dogs/training/dog.glb")


def test_every_listed_file_exists(shared_assets):
    for paths in _splits()["assets"]["training"].values():
        for path in paths:
            assert (shared_assets / path).exists(), path


def test_no_family_is_on_both_sides(shared_assets):
    sides = defaultdict(set)
    with (shared_assets / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["family"]:
                sides[row["family"]].add(asset_trains(row["path"]))
    assert sides
    assert not [family for family, found in sides.items() if len(found) > 1]


def test_subjects_of_motion_capture_are_on_the_sides_of_their_table(shared_assets):
    assert mocap_trains("02_01.bvh")
    assert not mocap_trains("13_05.bvh")
    table = shared_assets.parent / "mocap" / "ACTIONS.tsv"
    if not table.is_file():
        pytest.skip(f"{table} is not there")
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            assert mocap_trains(row["file"]) == (row["side"] == "train"), row["file"]


def test_nothing_trains_on_the_files_of_the_distillation_benchmark(shared_assets):
    cases = {actor.path for actor in (*ACTORS, *NEW_ACTORS) if actor.path}
    assert not [path for path in cases if asset_trains(path)]
    trained = dict(asset_side(shared_assets, training=True))
    assert trained
    assert not cases & set(trained)


def test_the_pose_space_trains_on_whole_families_and_leaves_species_out():
    assert pose_file_trains("any.glb", "quaternius-biped2021(UltimateMonsters+Space)")
    assert pose_file_trains("any.glb", "quaternius-cutefish [also shared Koi Puffer Shark]")
    assert not pose_file_trains("any.glb", "quaternius-animals-carnivore [also shared Fox Wolf]")
    assert pose_file_trains("mesh2motion/animations/fox-animations.glb", "mesh2motion/animations")
    case = "mesh2motion/animations/spider-animations.glb"
    assert not pose_file_trains(case, "mesh2motion/animations")
    assert pose_species_trains("fox")
    assert not pose_species_trains("giraffe")
