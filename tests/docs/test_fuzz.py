"""The harnesses of `fuzz/` run: each takes its own seeds, and bytes that are nothing."""

import importlib

import pytest

from fuzz.harness import MODULES, NEEDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "parser"), [(module, name) for module, names in MODULES.items() for name in names]
)
def test_a_harness_takes_its_seeds_and_nonsense(module, parser, tmp_path):
    pytest.importorskip(NEEDS.get(parser, "numpy"))
    harness = importlib.import_module(f"fuzz.{module}").HARNESSES[parser]()
    for data in (*harness.seeds, b"", b"\0" * 300, b"[" * 50_000, b"\xff{}\n"):
        harness.parse(data)
    harness.gather(tmp_path / "none", tmp_path / "corpus")
    assert len(list((tmp_path / "corpus").iterdir())) == len(harness.seeds)


def test_every_harness_is_listed():
    for module, names in MODULES.items():
        assert tuple(importlib.import_module(f"fuzz.{module}").HARNESSES) == names
