"""`python -m fuzz PARSER`: run one harness under atheris, from the robustness files.

A finding ends the run with an exit code and is left in `out/fuzz/PARSER`, where the corpus grows.
"""

from __future__ import annotations

import argparse
import sys
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
    parser.add_argument("--assets", type=Path, default=Path("../shared/assets/robustness"))
    given = parser.parse_args()
    harness = HARNESSES[given.parser]
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
        "-print_final_stats=1", "-verbosity=1",
    ]  # fmt: skip
    atheris.Setup(arguments, harness.parse)
    atheris.Fuzz()


main()
