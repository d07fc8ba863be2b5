"""Bodies of the zoo as a user would read them from a file, and their control rigs."""

from collections.abc import Callable
from functools import cache

import pytest

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.rig.character import Character, load_character
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from tests.zoo.menagerie import creature


@pytest.fixture(scope="session")
def zoo_character(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Character]:
    """The character in the GLB file of a species, without clips."""
    folder = tmp_path_factory.mktemp("zoo")

    @cache
    def load(species: str) -> Character:
        path = folder / f"{species}.glb"
        write_creature(creature(species), [], path)
        return load_character(read_asset(path))

    return load


@pytest.fixture(scope="session")
def zoo_rig(zoo_character: Callable[[str], Character]) -> Callable[[str], ControlRig]:
    return cache(lambda species: build_control_rig(zoo_character(species)))
