"""What trains and what measures."""

from akd.base.splits import (
    _splits,
    asset_trains,
    pose_file_trains,
    pose_species_trains,
    zoo_seed_trains,
)


def test_the_demos_fox_and_other_small_seeds_only_measure():
    assert not zoo_seed_trains(0)
    assert not zoo_seed_trains(999)
    assert zoo_seed_trains(1000)


def test_assets_measure_unless_they_are_listed():
    assert asset_trains("quaternius/animals_pack/Husky.glb")
    assert not asset_trains("quaternius/animals_pack/Fox.glb")
    assert not asset_trains("khronos/Fox/glTF-Binary/Fox.glb")


def test_every_listed_file_exists(shared_assets):
    for path in _splits()["assets"]["training"]:
        assert (shared_assets / path).is_file(), path


def test_the_pose_space_trains_on_whole_families_and_leaves_species_out():
    assert pose_file_trains("any.glb", "quaternius-biped2021(UltimateMonsters+Space)")
    assert pose_file_trains("any.glb", "quaternius-cutefish [also shared Koi Puffer Shark]")
    assert not pose_file_trains("any.glb", "quaternius-animals-carnivore [also shared Fox Wolf]")
    assert pose_file_trains("mesh2motion/animations/fox-animations.glb", "mesh2motion/animations")
    case = "mesh2motion/animations/spider-animations.glb"
    assert not pose_file_trains(case, "mesh2motion/animations")
    assert pose_species_trains("fox")
    assert not pose_species_trains("giraffe")
