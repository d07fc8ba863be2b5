"""Feet, sides and limbs of the real rigs: as made, without names and without a tree."""

from dataclasses import replace

import numpy as np
import pytest

from akd.base.splits import roles_family_develops
from akd.rig.character import load_character
from akd.rig.roles import limb_kind
from akd.rig.roles.role import LimbKind
from benchmarks import roles as benchmark
from benchmarks.roles_variants import flattened, without_names
from tests.assets import character, up_axis, upright

pytestmark = pytest.mark.slow

WRONG = {
    # Its wings swim: only an image tells.
    "kenney/cube-pets/animal_fish.glb",
    # Tentacles stand on the ground in the bind pose.
    "sketchfab_ccby/vampiresquid_negm.glb",
}
LABELS = {
    label.path: label
    for label in benchmark.read_labels()
    if roles_family_develops(label.family) and label.path not in WRONG
}
WRONG_WITHOUT_NAMES = {
    "kenney/cube-pets/animal_bee.glb",
    "kenney/cube-pets/animal_chick.glb",
    "kenney/cube-pets/animal_crab.glb",
    "kenney/cube-pets/animal_parrot.glb",
    "kenney/cube-pets/animal_penguin.glb",
    "kenney/graveyard-kit/character_ghost.glb",
    "mesh2motion/animations/quad-creature-animations-2025.glb",
    "mesh2motion/models-variation/fish-whale.glb",
    "mesh2motion/rigs/rig-spider.glb",
    "quaternius/easy_enemies_pack/Wasp.glb",
    "quaternius/fish_pack/Fish2.glb",
}
WRONG_WHEN_FLAT = {
    "mesh2motion/models-variation/human-bunny.glb",
    "mesh2motion/rigs/rig-kaiju.glb",
    "mesh2motion/rigs/rig-spider.glb",
    "sketchfab_ccby/fish_atlas.glb",
    "threejs/RobotExpressive/RobotExpressive.glb",
}


@pytest.mark.parametrize("path", LABELS)
def test_feet_sides_and_limbs(path, shared_assets):
    body = upright(path)
    assert benchmark.is_right(benchmark.mistakes(body, body.skeleton.names, LABELS[path]))


@pytest.mark.parametrize("path", sorted(set(LABELS) - WRONG_WITHOUT_NAMES))
def test_feet_sides_and_limbs_without_names(path, shared_assets):
    names = character(path).skeleton.names
    bare = load_character(without_names(character(path).asset), up=up_axis(path))
    assert set(bare.skeleton.names).isdisjoint(names)
    assert benchmark.is_right(benchmark.mistakes(bare, names, LABELS[path]))


@pytest.mark.parametrize("path", sorted(set(LABELS) - WRONG_WHEN_FLAT))
def test_feet_sides_and_limbs_of_a_flat_tree(path, shared_assets):
    names = character(path).skeleton.names
    flat = load_character(flattened(character(path).asset), up=up_axis(path))
    assert set(flat.skeleton.parents[:-1]) == {len(names)}
    assert benchmark.is_right(benchmark.mistakes(flat, names, LABELS[path]))


def test_the_truth_is_not_taken_from_what_is_tested(shared_assets):
    # A file whose sides are swapped must count as wrong.
    label = LABELS["khronos/Fox/glTF-Binary/Fox.glb"]
    fox = character(label.path)
    swapped = {kind: [pair[::-1] for pair in pairs] for kind, pairs in label.pairs.items()}
    assert benchmark.mistakes(fox, fox.skeleton.names, replace(label, pairs=swapped))
    bare = replace(fox, anatomy=replace(fox.anatomy, limbs=()))
    assert benchmark.mistakes(bare, fox.skeleton.names, label)


def test_a_fish_that_lies_on_its_fins_has_no_legs(shared_assets):
    shark = character("quaternius/fish_pack/Shark.glb")
    assert shark.anatomy.legs == ()
    # Told by shape: its fins are called `Bone` and `Bone.001`.
    assert [x.kind.value for x in shark.anatomy.limbs] == ["fin", "fin"]
    np.testing.assert_allclose(shark.anatomy.forward, [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("path", "legs"),
    [("quaternius/fish_pack/Whale.glb", 0), ("quaternius/dinosaurs_pack/Trex.glb", 2)],
)
def test_a_long_body_does_not_stand_on_one_splayed_pair(path, legs, shared_assets, monkeypatch):
    model = limb_kind.shape_model()
    # Whatever the shape model thinks of such limbs: here it takes all of them for legs.
    all_legs = replace(model, bias=model.bias + 50.0 * np.eye(5)[0])
    monkeypatch.setattr(limb_kind, "shape_model", lambda: all_legs)
    bare = load_character(without_names(character(path).asset), up=up_axis(path))
    assert [leg.kind for leg in bare.anatomy.legs] == [LimbKind.LEG] * legs
