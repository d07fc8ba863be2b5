"""`python -m fuzz.process PARSER ...`: one process of atheris. `python -m fuzz` starts it."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

import atheris

from fuzz.harness import LARGEST_SEED, MODULES

_WORTH_SAYING = 0.05
"""Seconds."""
_LONGEST = 10.0
"""Seconds of processor time for an input, as the readers' own limit."""
_HANGS = 200
"""Seconds on the clock, after which libFuzzer ends an input: it may have to wait for a core."""


class TookTooLong(Exception):
    """An input took more than `_LONGEST`."""


def main() -> None:
    """Gather the corpus and hand over to libFuzzer, which ends the process."""
    parser = argparse.ArgumentParser(prog="fuzz.process")
    parser.add_argument("parser")
    parser.add_argument("--seconds", type=int, required=True)
    for folder in ("assets", "corpus", "findings"):
        parser.add_argument(f"--{folder}", type=Path, required=True)
    given = parser.parse_args()
    module = next(name for name, parsers in MODULES.items() if given.parser in parsers)
    # Readers import some modules when they first need them: those are instrumented as well.
    with atheris.instrument_imports(include=["akd", "trimesh.exchange"]):
        harness = importlib.import_module(f"fuzz.{module}").HARNESSES[given.parser]()
        harness.gather(given.assets, given.corpus)
        for seed in harness.seeds:
            harness.parse(seed)  # what it imports takes longer than an input may
        longest = max((LARGEST_SEED, *map(len, harness.seeds)))
        arguments = [
            sys.argv[0], str(given.corpus), f"-max_total_time={given.seconds}",
            f"-timeout={_HANGS}",
            "-rss_limit_mb=1536", f"-max_len={2 * longest}",
            f"-artifact_prefix={given.findings}/", "-print_final_stats=1", "-verbosity=1",
            f"-runs={harness.inputs_a_process}",
        ]  # fmt: skip
        atheris.Setup(arguments, _timed(harness.parse))
        atheris.Fuzz()


def _timed(parse: Callable[[bytes], object]) -> Callable[[bytes], None]:
    slowest = _WORTH_SAYING

    def seconds_of(data: bytes) -> float:
        began = time.process_time()
        parse(data)
        return time.process_time() - began

    def timed(data: bytes) -> None:
        nonlocal slowest
        # The first input that needs a module also waits for its import and instrumentation.
        if seconds_of(data) > slowest and (seconds := seconds_of(data)) > slowest:
            slowest = seconds
            if slowest > _LONGEST:
                raise TookTooLong(f"{slowest:.1f} s of processor time")
            print(f"slowest input, seconds: {seconds:.3f}", file=sys.stderr, flush=True)

    return timed


if __name__ == "__main__":
    main()
