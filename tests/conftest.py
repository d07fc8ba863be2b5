"""Shapes in signatures are checked at run time; what a machine lacks is skipped by name."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import hypothesis
import pytest
from jaxtyping import install_import_hook

from tests import shape_checks

# The hook imports only the package of the name it is given; the module is imported above.
install_import_hook("akd", f"{shape_checks.__name__}.check")

hypothesis.settings.register_profile("akd", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("akd")


@pytest.fixture(autouse=True)
def _shapes_are_checked_in_every_test() -> None:
    shape_checks.start_again()


@pytest.fixture(autouse=True)
def _torch_keeps_one_thread() -> Iterator[None]:
    """Results depend on the number of threads in their last bits: what changes it, changes it back,
    in this thread and in those that start after it."""
    import torch

    yield
    found = [torch.get_num_threads()]
    other = Thread(target=lambda: found.append(torch.get_num_threads()))
    other.start()
    other.join()
    torch.set_num_threads(1)
    assert found == [1, 1]


@pytest.fixture(scope="session")
def shared_assets() -> Path:
    from tests.assets import SHARED_ASSETS

    if not SHARED_ASSETS.is_dir():
        pytest.skip("needs the real assets in ../shared/assets")
    return SHARED_ASSETS


@pytest.fixture(scope="session")
def fox(tmp_path_factory: pytest.TempPathFactory):
    """A fox of the zoo."""
    from tests.distill.fox import load_fox

    return load_fox(tmp_path_factory.mktemp("fox") / "fox.glb")


def pytest_configure() -> None:
    import torch

    from akd.base.processor import avoid_broken_amx

    avoid_broken_amx()
    # Tests run side by side, one process a core, on small arrays: more threads only wait.
    torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    import torch

    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu") is not None:  # a folder may have that name, too
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
