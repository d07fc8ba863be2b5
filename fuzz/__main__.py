"""`python -m fuzz PARSER`: run one harness under atheris, from the robustness files.

A finding ends the run with an exit code and is left in `out/fuzz/PARSER`, where the corpus grows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["akd", "trimesh.exchange"]):
    from fuzz.harnesses import HARNESSES

_LARGEST_SEED = 32_768


def main() -> None:
    """Read the command line, gather the corpus, and hand over to libFuzzer."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("parser", choices=HARNESSES)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1, help="inputs of this process, at most")
    parser.add_argument("--assets", type=Path, default=Path("../shared/assets/robustness"))
    given = parser.parse_args()
    harness = HARNESSES[given.parser]
    if given.runs < 0 and harness.inputs_a_process is not None:
        sys.exit(_run_in_turn(given, harness.inputs_a_process))
    corpus = Path("out/fuzz") / given.parser
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(harness.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    files = [p for p in given.assets.rglob("*") if p.suffix.lower() in harness.suffixes]
    for number, path in enumerate(sorted(files)):
        if path.stat().st_size <= _LARGEST_SEED:
            (corpus / f"file-{number}").write_bytes(path.read_bytes())
    arguments = [
        sys.argv[0], str(corpus), f"-max_total_time={given.seconds}", "-timeout=10",
        "-rss_limit_mb=1536", f"-max_len={2 * _LARGEST_SEED}", f"-artifact_prefix={corpus}/",
        "-print_final_stats=1", "-verbosity=1", f"-runs={given.runs}",
    ]  # fmt: skip
    atheris.Setup(arguments, harness.parse)
    atheris.Fuzz()


def _run_in_turn(given: argparse.Namespace, runs: int) -> int:
    """Processes one after another, which share the corpus; the exit code of the last."""
    until = time.monotonic() + given.seconds
    while (left := int(until - time.monotonic())) > 0:
        words = ["--seconds", str(left), "--runs", str(runs), "--assets", str(given.assets)]
        done = subprocess.run([sys.executable, "-m", "fuzz", given.parser, *words], check=False)
        if done.returncode:
            return done.returncode
    return 0


main()
