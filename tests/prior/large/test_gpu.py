"""What only a GPU does: products in 8 bits, compiled norms, ways to convolve, offloading."""

from pathlib import Path

import pytest

from tests.prior.large import gpu_checks

pytestmark = pytest.mark.gpu


def test_products_in_eight_bits() -> None:
    gpu_checks.products_in_eight_bits()


def test_compiled_norms() -> None:
    gpu_checks.compiled_norms()


def test_every_way_to_convolve() -> None:
    gpu_checks.every_way_to_convolve()


@pytest.mark.parametrize("family", ["cogvideox", "wan2.2-wide"])
def test_fast_encoder(family: str) -> None:
    gpu_checks.fast_encoder(family)


def test_little_memory() -> None:
    gpu_checks.little_memory()


def test_offload_changes_nothing(tmp_path: Path) -> None:
    gpu_checks.offload_changes_nothing(tmp_path)
