"""The image of a body painted by role."""

from dataclasses import replace

import numpy as np
import pytest

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.report.role_image import role_image
from akd.rig.character import load_character
from akd.scene.roles import role_colour
from tests.zoo.menagerie import creature


def test_the_front_view_has_the_left_on_the_right_of_the_image(tmp_path):
    write_creature(creature("fox"), [], tmp_path / "fox.glb")
    fox = load_character(read_asset(tmp_path / "fox.glb"))
    front = np.asarray(role_image(fox)).astype(int)[:480, :480]
    foot = np.array(role_colour("left fore foot"))
    # Shading scales a colour: compare directions.
    unit = front / np.maximum(np.linalg.norm(front, axis=-1, keepdims=True), 1e-9)
    columns = np.nonzero((unit @ (foot / np.linalg.norm(foot)) > 0.9999) & (front.sum(-1) > 300))[1]
    assert len(columns) > 10
    assert columns.mean() > 240
    with pytest.raises(AssetError, match="must have a mesh"):
        role_image(replace(fox, mesh=None))
