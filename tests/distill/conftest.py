"""A creature of three bones that the tests share."""

import pytest
from tube import write_tube

from akd.rig.control_build import build_control_rig


@pytest.fixture(scope="session")
def tube(tmp_path_factory):
    return write_tube(tmp_path_factory.mktemp("tube") / "tube.glb")


@pytest.fixture(scope="session")
def rig(tube):
    return build_control_rig(tube)
