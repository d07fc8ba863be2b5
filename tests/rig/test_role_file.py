"""Roles corrected by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akd.asset.asset import AssetError
from akd.rig.role_file import correct_roles, parse_role, read_role_file
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part, Role
from tests.assets import character

FOX = "khronos/Fox/glTF-Binary/Fox.glb"


@given(
    st.builds(
        Role,
        st.sampled_from(Part),
        st.sampled_from(Side),
        st.none() | st.sampled_from(LimbKind),
        st.integers(0, 9),
    )
)
def test_a_role_can_be_read_back_from_its_words(role):
    assert parse_role(str(role)) == role


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left hind", "'left hind' names no part"),
        ("left hind foott", "'foott' in 'left hind foott' is not a word for a role"),
        ("", "names no part"),
    ],
)
def test_words_that_are_no_role_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_role(text)


def test_a_file_is_read_and_its_faults_are_one_line(tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text('"Tail.001" = "tail 2"\nhand = "left fore foot"\n')
    assert read_role_file(path) == {
        "Tail.001": Role(Part.TAIL, number=2),
        "hand": Role(Part.FOOT, Side.LEFT, LimbKind.FORE),
    }
    for text, message in (
        ("a = 3\n", "the role of 'a' must be text, got 3"),
        ("a = [\n", "must be TOML"),
        ("a = " + "[" * 5000 + "]" * 5000, "must be TOML"),
        ("[a]\nb = 1\n", "the role of 'a' must be text, got {'b': 1}"),
        ('a = "tail ²"\n', "is not a word for a role"),
        (f'a = "tail {"9" * 5000}"\n', "is not a word for a role"),
        (f'"{"a" * 5000}" = "{"b" * 5000}"\n', "is not a word for a role"),
        ('a = "left nose"\n', "joint 'a': 'nose' in 'left nose' is not a word for a role"),
    ):
        path.write_text(text)
        with pytest.raises(AssetError, match=message) as caught:
            read_role_file(path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500 + len(str(path))
    path.write_text('\ufeffhand = "head"\n', "utf-8")  # as editors on Windows write it
    assert read_role_file(path) == {"hand": Role(Part.HEAD)}


def test_a_foot_moved_to_another_joint_moves_the_limb(shared_assets):
    fox = character(FOX)
    names = fox.skeleton.names
    toes, foot = names.index("b_LeftFoot02_018"), names.index("b_LeftFoot01_017")
    assert toes in fox.anatomy.feet
    mended = correct_roles(
        fox,
        {
            "b_LeftFoot01_017": parse_role("left hind foot"),
            "b_LeftFoot02_018": parse_role("left hind toes"),
        },
    )
    feet = mended.anatomy.feet
    assert foot in feet
    assert toes not in feet
    assert len(feet) == 4
    limb = next(x for x in mended.anatomy.limbs if x.tip == foot)
    assert (limb.kind, limb.side) == (LimbKind.HIND, Side.LEFT)
    assert limb.joints[-2:] == (foot, toes)
    np.testing.assert_array_equal(mended.anatomy.forward, fox.anatomy.forward)
    untouched = [x for x in fox.anatomy.limbs if x.tip != toes]
    assert [x for x in mended.anatomy.limbs if x.tip != foot] == untouched


def test_sides_that_are_swapped_turn_the_character_round(shared_assets):
    fox = character(FOX)
    names = fox.skeleton.names
    mended = correct_roles(
        fox,
        {
            "b_LeftHand_011": parse_role("right hind foot"),
            "b_RightHand_08": parse_role("left hind foot"),
        },
    )
    np.testing.assert_allclose(mended.anatomy.forward, -fox.anatomy.forward)
    sides = {names[x.tip]: (x.side.value, x.kind.value) for x in mended.anatomy.legs}
    assert sides == {
        "b_LeftHand_011": ("right", "hind"),
        "b_RightHand_08": ("left", "hind"),
        "b_LeftFoot02_018": ("right", "fore"),
        "b_RightFoot02_022": ("left", "fore"),
    }
    assert mended.anatomy.forward_found_by == "the roles given by hand"
    assert mended.anatomy.forward_confidence == 1.0


def test_a_head_that_lies_behind_turns_a_body_round(shared_assets):
    fox = character(FOX)
    names, places = fox.skeleton.names, fox.skeleton.forward(fox.bind)[:, :3, 3].numpy()
    along = places @ fox.anatomy.forward
    head, tail = (names[int(np.argmax(s * along))] for s in (1.0, -1.0))
    kept = correct_roles(fox, {head: parse_role("head")})
    turned = correct_roles(fox, {tail: parse_role("head")})
    np.testing.assert_allclose(kept.anatomy.forward, fox.anatomy.forward)
    np.testing.assert_allclose(turned.anatomy.forward, -fox.anatomy.forward)


def test_a_joint_that_is_not_there_is_named(shared_assets):
    with pytest.raises(AssetError, match="there is no joint called 'wing'"):
        correct_roles(character(FOX), {"wing": parse_role("head")})


def test_no_corrections_change_nothing(shared_assets):
    fox = character(FOX)
    assert correct_roles(fox, {}).anatomy is fox.anatomy
