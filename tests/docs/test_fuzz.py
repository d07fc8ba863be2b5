"""The harnesses of `fuzz/` run: each takes its own seeds, mutations of them, and nonsense."""

import importlib
import random
from collections.abc import Iterator, Sequence

import pytest

from fuzz.harness import MODULES, NEEDS

MUTATIONS = 60
"""Of each parser. Fuzzing guided by coverage, `make fuzz`, takes more than a suite should."""
PIECES = (b"", b"0", b"-1", b"1e38", b"nan", b"\xff" * 4, b"65535", b"[]", b"null", b"\0", b'"')


def mutations(seeds: Sequence[bytes], draw: random.Random) -> Iterator[bytes]:
    """Seeds with a few bytes changed, put in or left out, or cut short."""
    for _ in range(MUTATIONS):
        data = bytearray(draw.choice(seeds))
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data) + 1)
            data[at : at + draw.randint(0, 6)] = draw.choice(PIECES)
        yield bytes(data[: draw.randrange(len(data) + 1)] if draw.random() < 0.1 else data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "parser"), [(module, name) for module, names in MODULES.items() for name in names]
)
def test_a_harness_takes_seeds_mutations_and_nonsense(module, parser, tmp_path):
    pytest.importorskip(NEEDS.get(parser, "numpy"))
    harness = importlib.import_module(f"fuzz.{module}").HARNESSES[parser]()
    for data in (*harness.seeds, b"", b"\0" * 300, b"[" * 50_000, b"\xff{}\n"):
        harness.parse(data)
    for data in mutations(harness.seeds or (b"",), random.Random(parser)):
        harness.parse(data)
    harness.gather(tmp_path / "none", tmp_path / "corpus")
    assert len(list((tmp_path / "corpus").iterdir())) == len(harness.seeds)


def test_every_harness_is_listed():
    for module, names in MODULES.items():
        assert tuple(importlib.import_module(f"fuzz.{module}").HARNESSES) == names
