"""What every creature of the zoo must be."""

import subprocess
import sys

import numpy as np
import pytest
import torch
import trimesh
from scipy.spatial import KDTree

from akd.motion.actions import ACTIONS
from akd.zoo.creature import build_creature, parameters_to_anatomy
from akd.zoo.species.catalogue import SPECIES
from akd.zoo.species.coat import paint
from tests.zoo.menagerie import ALL, FEW, creature, joint_weights, sole_rows


@pytest.mark.parametrize("species", ALL)
def test_mesh_is_one_closed_piece(species):
    mesh = creature(species).mesh
    solid = trimesh.Trimesh(mesh.vertices.numpy(), mesh.faces.numpy(), process=False)
    assert solid.is_watertight
    assert solid.is_winding_consistent
    assert solid.body_count == 1
    assert solid.volume > 0.0
    assert abs(len(mesh.vertices) - 1500) <= 2


@pytest.mark.parametrize("species", ALL)
def test_weights_are_a_partition_of_at_most_four(species):
    skin = creature(species).mesh.skin
    assert skin.weights.shape[1] <= 4
    assert (skin.weights >= 0).all()
    torch.testing.assert_close(skin.weights.sum(dim=1), torch.ones(len(skin.weights)))


@pytest.mark.parametrize("species", ALL)
def test_no_other_leg_touches_a_foot(species):
    animal = creature(species)
    weights = joint_weights(animal)
    for foot in animal.feet:
        mine = [animal.skeleton.names.index(name) for name in foot.leg.bones]
        others = [
            animal.skeleton.names.index(name)
            for other in animal.feet
            if other.name != foot.name
            for name in other.leg.bones
        ]
        lower = weights[:, mine[-2:]].sum(axis=1) > 0.2
        assert lower.any()
        assert weights[lower][:, others].max() == 0.0


@pytest.mark.parametrize("species", ALL)
def test_weights_run_smoothly_over_the_skin(species):
    animal = creature(species)
    weights = joint_weights(animal)
    edges = trimesh.Trimesh(
        animal.mesh.vertices.numpy(), animal.mesh.faces.numpy(), process=False
    ).edges_unique
    jump = np.abs(weights[edges[:, 0]] - weights[edges[:, 1]]).max(axis=1)
    assert np.quantile(jump, 0.99) < 0.6
    assert jump.mean() < 0.15


@pytest.mark.parametrize("species", ALL)
def test_archetype_is_symmetric(species):
    animal = creature(species)
    vertices = animal.mesh.vertices.numpy()
    distance, twin = KDTree(vertices).query(vertices * (-1.0, 1.0, 1.0))
    assert distance.max() < 1e-6
    assert len(np.unique(twin)) == len(vertices)
    joints = animal.skeleton.names
    swap = [
        joints.index(n.replace("left_", "right_") if "left_" in n else n.replace("right_", "left_"))
        for n in joints
    ]
    weights = joint_weights(animal)
    np.testing.assert_allclose(weights[twin], weights[:, swap], atol=1e-5)
    names = animal.skeleton.names
    places = -animal.mesh.skin.inverse_bind[:, :3, 3].numpy()
    for joint, name in enumerate(names):
        if name.startswith("left_"):
            twin = names.index(name.replace("left_", "right_"))
            np.testing.assert_allclose(places[twin], places[joint] * (-1, 1, 1), atol=1e-6)


@pytest.mark.parametrize("species", ALL)
def test_stands_on_the_ground_and_faces_forward(species):
    animal = creature(species)
    vertices = animal.mesh.vertices
    if animal.plan == "fish":
        assert 0.0 <= float(vertices[:, 1].min()) < 0.2 * animal.height
    else:
        assert float(vertices[:, 1].min()) == pytest.approx(0.0, abs=1e-5 * animal.height)
    for rows in sole_rows(species):
        sole = vertices[rows]
        assert float(sole[:, 1].min()) == pytest.approx(0.0, abs=1e-3 * animal.height)
    places = -animal.mesh.skin.inverse_bind[:, :3, 3]
    names = animal.skeleton.names
    head = names.index("head")
    assert places[head, 2] > places[names.index("pelvis"), 2]
    if animal.feet and animal.plan != "arthropod":  # whose legs point all ways
        toes = names.index(animal.feet[0].leg.toes)
        assert vertices[sole_rows(species)[0]][:, 2].max() > places[toes, 2]
    left = [i for i, name in enumerate(names) if name.startswith("left_")]
    assert (places[left, 0] > 0).all()


@pytest.mark.parametrize("species", ALL)
def test_rest_pose_is_the_bind_pose(species):
    animal = creature(species)
    world = animal.skeleton.forward(animal.skeleton.rest)
    torch.testing.assert_close(
        animal.mesh.pose(world), animal.mesh.vertices, atol=1e-5 * animal.height, rtol=0.0
    )


@pytest.mark.parametrize("species", ALL)
def test_joints_lie_inside_the_body(species):
    animal = creature(species)
    solid = trimesh.Trimesh(animal.mesh.vertices.numpy(), animal.mesh.faces.numpy(), process=False)
    names = [n for n in animal.skeleton.names if n != "root" and "ear" not in n]
    rows = [animal.skeleton.names.index(n) for n in names]
    places = -animal.mesh.skin.inverse_bind[rows, :3, 3].numpy()
    inside = solid.contains(places)
    assert inside.mean() > 0.9, [n for n, ok in zip(names, inside, strict=True) if not ok]


def test_named_as_a_person_would_name_them():
    names = creature("fox").skeleton.names
    for name in (
        *("root", "pelvis", "spine_1", "neck_1", "head", "left_ear", "tail_1"),
        *("left_fore_upper", "left_fore_lower", "left_fore_foot", "left_fore_toes"),
        *("left_hind_upper", "left_hind_lower", "right_hind_foot", "right_hind_toes"),
    ):
        assert name in names
    assert "left_arm_upper" in creature("man").skeleton.names
    assert "jaw" in creature("trex").skeleton.names
    assert "trunk_3" in creature("elephant").skeleton.names


def test_mass_is_that_of_the_solid():
    animal = creature("fox")
    solid = trimesh.Trimesh(animal.mesh.vertices.numpy(), animal.mesh.faces.numpy(), process=False)
    world = animal.skeleton.forward(animal.skeleton.rest)
    centre = animal.centre_of_mass(world).numpy()
    np.testing.assert_allclose(centre, solid.center_mass, atol=0.02 * animal.height)
    assert float(animal.mass[:, 3].sum()) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("species", FEW)
def test_same_arguments_give_the_same_bits(species):
    one = build_creature(species, seed=5, vertices=1500)
    two = build_creature(species, seed=5, vertices=1500)
    for a, b in (
        (one.mesh.vertices, two.mesh.vertices),
        (one.mesh.faces, two.mesh.faces),
        (one.mesh.colours, two.mesh.colours),
        (one.mesh.skin.weights, two.mesh.skin.weights),
        (one.skeleton.rest.translation, two.skeleton.rest.translation),
        (one.mass, two.mass),
    ):
        assert torch.equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("species", FEW)
def test_seeds_are_individuals(species):
    family = [build_creature(species, seed=seed, vertices=1500) for seed in range(4)]
    heights = [animal.height for animal in family]
    assert np.ptp(heights) > 0.03 * heights[0]
    shapes = [animal.skeleton.rest.translation / animal.height for animal in family]
    looks = [animal.mesh.colours.mean(dim=0) for animal in family]
    for a in range(4):
        for b in range(a):
            assert (shapes[a] - shapes[b]).abs().max() > 0.005
            assert (looks[a] - looks[b]).abs().max() > 0.002
    assert all(animal.skeleton.names == family[0].skeleton.names for animal in family)


@pytest.mark.slow
@pytest.mark.parametrize("species", ALL)
def test_every_individual_is_sound(species):
    mesh = build_creature(species, seed=1, vertices=1000).mesh
    solid = trimesh.Trimesh(mesh.vertices.numpy(), mesh.faces.numpy(), process=False)
    assert solid.is_watertight
    assert solid.body_count == 1


@pytest.mark.slow
def test_colours_are_colours_and_differ():
    means = {}
    for species in SPECIES:
        colours = creature(species).mesh.colours
        assert ((colours >= 0) & (colours <= 1)).all()
        assert colours.std(dim=0).max() > 0.01
        means[species] = colours.mean(dim=0)
    fox, elephant = means["fox"], means["elephant"]
    assert fox[0] > 2 * fox[2]  # orange
    assert elephant.std() < 0.02  # grey


def test_the_fox_has_black_socks_and_a_white_tail_tip():
    fox = creature("fox")
    vertices, colours = fox.mesh.vertices, fox.mesh.colours
    sock = colours[vertices[:, 1] < 0.2 * fox.parameters.height]
    tip = colours[vertices[:, 2] < vertices[:, 2].min() + 0.05]
    assert sock.mean() < 0.1
    assert tip.mean() > 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"species": "unicorn"}, "species must be one of allosaur, bear, "),
        ({"species": "fox", "vertices": 100}, "vertices must be at least 500, got 100"),
        ({"species": "fox", "seed": -1}, "seed must be zero or more, got -1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        build_creature(arguments.pop("species"), **arguments)


@pytest.mark.slow
def test_actions_are_in_the_one_table():
    for species in SPECIES:
        animal = creature(species)
        assert set(animal.actions) <= set(ACTIONS)
        assert "stand" in animal.actions
        if animal.feet:
            assert {"walk", "turn_left", "turn_right"} <= set(animal.actions)
    assert "gallop" not in SPECIES["elephant"].actions


def test_the_list_of_species_needs_no_torch():
    code = "import sys, akd.zoo.species.catalogue; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_vertex_near_no_part_has_the_nearest_one_s_colour():
    """A coarse mesh has such vertices."""
    parameters = SPECIES["fox"]
    nose = np.array([[0.0, 0.5 * parameters.height, 2.0 * parameters.height]])
    far = paint(parameters_to_anatomy(parameters), parameters, nose, np.eye(3)[2:], seed=0)
    assert ((far >= 0) & (far <= 1)).all()
