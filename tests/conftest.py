"""Shapes in signatures are checked at run time, and the real assets are found or skipped by name."""

from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("akd", "beartype.beartype")

SHARED_ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


@pytest.fixture(scope="session")
def shared_assets() -> Path:
    if not SHARED_ASSETS.is_dir():
        pytest.skip("needs the real assets in ../shared/assets")
    return SHARED_ASSETS
