"""Feet and sides of the real rigs, with the names their artists gave and without any."""

from dataclasses import replace

import numpy as np
import pytest

from akd.rig.character import load_character
from benchmarks import roles as benchmark
from tests.assets import SHARED_ASSETS, character

pytestmark = pytest.mark.slow

WRONG_WITHOUT_NAMES = {
    # Foot and toes are both near the ground, and nothing but a name says which is which.
    "kaykit/Rogue_Hooded.glb",
    "kaykit/char_anim/mannequin_v2/manny_med_mod.gltf",
    "kaykit/char_anim/anim/Med_General.glb",
    "mesh2motion/animations/quad-creature-animations-2025.glb",
    # Its jaws hang down to the ground like a fifth pair of legs.
    "mesh2motion/animations/spider-animations.glb",
    # A mech without a face: it could walk either way.
    "quaternius/mech_pack/George.glb",
}


@pytest.mark.parametrize("path", benchmark.TRUTH)
def test_feet_and_sides(path, shared_assets):
    named = character(path)
    names = named.skeleton.names
    assert benchmark.is_right(named, names, benchmark.TRUTH[path])
    if path in WRONG_WITHOUT_NAMES:
        return
    bare = load_character(benchmark.without_names(named.asset))
    assert set(bare.skeleton.names).isdisjoint(names)
    assert benchmark.is_right(bare, names, benchmark.TRUTH[path])


def test_the_truth_is_not_taken_from_what_is_tested(shared_assets):
    # A file whose sides are swapped must count as wrong.
    path = "khronos/Fox/glTF-Binary/Fox.glb"
    left, right = benchmark.TRUTH[path]
    fox = character(path)
    assert not benchmark.is_right(fox, fox.skeleton.names, (right, left))
    assert not benchmark.is_right(
        replace(fox, anatomy=replace(fox.anatomy, limbs=())), fox.skeleton.names, (left, right)
    )
    assert SHARED_ASSETS.is_dir()


def test_a_fish_that_lies_on_its_fins_has_no_legs(shared_assets):
    shark = character("quaternius/fish_pack/Shark.glb")
    assert shark.anatomy.legs == ()
    # Told by shape: its fins are called `Bone` and `Bone.001`.
    assert [x.kind.value for x in shark.anatomy.limbs] == ["fin", "fin"]
    np.testing.assert_allclose(shark.anatomy.forward, [0, 0, 1], atol=1e-6)
