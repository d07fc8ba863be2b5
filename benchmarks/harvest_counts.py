"""What became of the poses of `akd pose harvest`: counts by source and reason.

python -m benchmarks.harvest_counts out/harvest
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from akd.posespace.shards import read_tables

REASONS = ("fit", "judgement", "intersection", "ground", "duplicate", "")
"""Why a pose is dropped; the last one is kept."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("harvest", type=Path)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    bodies, kept_bodies, videos = set(), set(), set()
    for row in read_tables(parser.parse_args().harvest):
        action = str(row["prompt"]).split(" ", 2)[2]
        for key in (str(row["source"]), f"{row['source']}, {action}"):
            counts[key][str(row["reason"])] += 1
        bodies.add(row["body"])
        videos.add((row["job"], row["sample"]))
        if row["kept"]:
            kept_bodies.add(row["body"])
    print("| | fitted | fit | judgement | intersection | ground | duplicate | kept |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for key, found in sorted(counts.items()):
        shares = " | ".join(f"{100.0 * found[r] / found.total():.1f} %" for r in REASONS)
        print(f"| {key} | {found.total():,} | {shares} |")
    kept = sum(found[""] for key, found in counts.items() if ", " not in key)
    print(
        f"{kept:,} poses kept of {len(kept_bodies)} of {len(bodies)} bodies, {len(videos)} videos"
    )


if __name__ == "__main__":
    main()
