"""A prior, a fox and finished runs that the tests of commands share."""

import pytest

from akd.cli import main
from tests.commands.animating import DONE, words
from tests.commands.small_prior import write_fox, write_weights


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    return write_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="session")
def fox(tmp_path_factory):
    return write_fox(tmp_path_factory.mktemp("fox") / "fox.glb")


@pytest.fixture(scope="session")
def finished(fox, weights, tmp_path_factory):
    """One whole run, with physics for two iterations."""
    out = tmp_path_factory.mktemp("finished")
    given = [w for w in words(fox, weights, out) if w != "--no-grounded"]
    assert main([*given, "--physics-iterations", "2"]) in DONE
    return out


@pytest.fixture(scope="session")
def uninterrupted(fox, weights, tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted")
    assert main(words(fox, weights, out)) in DONE
    return out
