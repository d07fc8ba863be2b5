"""A creature of three bones that the tests share."""

import pytest

from akd.rig.control_build import build_control_rig
from tests.distill.tube import write_tube


@pytest.fixture(scope="session")
def tube(tmp_path_factory):
    return write_tube(tmp_path_factory.mktemp("tube") / "tube.glb")


@pytest.fixture(scope="session")
def rig(tube):
    return build_control_rig(tube)
