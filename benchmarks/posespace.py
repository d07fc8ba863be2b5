"""The pose space on bodies that it never saw, beside baselines.

    python -m benchmarks.posespace out/poses_train.safetensors out/poses_measure.safetensors \
        true=out/true.safetensors harvest=out/harvest.safetensors both=out/both.safetensors \
        --device cuda --processes 3 --timed 60 -o out/bench

On two cores, without what is only of interest beside the judge and with the queries of one model:

    python -m benchmarks.posespace ... --processes 2 --brief --queries both

The two files are those of `akd pose collect --side training` and `--side measuring`. Needs torch,
numpy and safetensors only. The zoo's measuring side consists of whole species that never train.

Every row is printed and appended to OUT/rows.jsonl as it ends; a run that was stopped goes on where
it was. Rows of other data, weights or sizes are made anew (of other code they are not: take another
folder). OUT/posespace.json holds them all.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from akd.base.files import file_hash, json_hash, write_json
from akd.posespace.dataset import PoseSet, load_poses
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from benchmarks.posespace_baselines import Features, train_autoencoder
from benchmarks.posespace_measures import (
    QUERIES,
    SECTIONS,
    Bench,
    Sizes,
    baselines,
    ik_seconds,
)
from benchmarks.posespace_poses import Measured, choose
from benchmarks.rows import append_row, read_rows

BASELINES = "baselines"
"""Section of what needs no model."""


@dataclass(frozen=True)
class Setup:
    """What all rows of a run share."""

    train: Path
    measure: Path
    device: str
    threads: int
    sizes: Sizes


@dataclass(frozen=True)
class Row:
    """One section of one model on one source."""

    section: str
    source: str
    model: str = BASELINES
    weights: Path | None = None

    @property
    def label(self) -> str:
        """What a row is called in print."""
        parts = (self.source, self.model, self.section)
        return ", ".join(dict.fromkeys(parts))

    def key(self, setup: Setup) -> str:
        """Rows of one key are the same row."""
        files = [p for p in (setup.train, setup.measure, self.weights) if p is not None]
        about = (self.section, self.source, asdict(setup.sizes), [_hash(p) for p in files])
        return json_hash(about)[:16]

    def evaluations(self, sizes: Sizes) -> int:
        """Poses that the network sees, at most."""
        return 0 if self.section == BASELINES else SECTIONS[self.section].evaluations(sizes)


def measure(row: Row, setup: Setup) -> dict[str, Any]:
    """Make a row."""
    torch.set_num_threads(setup.threads)
    started, bench = time.perf_counter(), _bench(setup, row.source)
    if row.weights is None:
        found = baselines(bench)
    else:
        found = SECTIONS[row.section].measure(_network(row.weights, setup.device), bench)
    return {
        "key": row.key(setup), "section": row.section, "source": row.source, "model": row.model,
        "seconds": round(time.perf_counter() - started, 2), "found": found,
    }  # fmt: skip


@cache
def _hash(path: Path) -> str:
    return file_hash(path)


@cache
def _network(weights: Path, device: str) -> PoseNetwork:
    return load_model(weights, device=device)


@cache
def _data(setup: Setup) -> tuple[PoseSet, PoseSet, Features]:
    """Poses of both sides on the device, and the autoencoder, which is trained on the CPU.

    There every process gets the same one.
    """
    train = load_poses(setup.train)
    return (
        train.to(setup.device), load_poses(setup.measure).to(setup.device),
        train_autoencoder(train),
    )  # fmt: skip


@cache
def _bench(setup: Setup, source: str) -> Bench:
    train, poses, encoder = _data(setup)
    draw = torch.Generator().manual_seed(1)
    rows = choose(poses, setup.sizes.count, source=source, draw=draw)
    return Bench(Measured.of(poses, rows.to(setup.device)), train, setup.sizes, encoder)


def run(rows: list[Row], setup: Setup, out: Path, *, processes: int) -> list[dict[str, Any]]:
    """Make the rows that the file does not hold yet; all that were asked for."""
    path = out / "rows.jsonl"
    keys = {row.key(setup) for row in rows}
    done = {found["key"]: found for found in read_rows(path) if found["key"] in keys}
    todo = [row for row in rows if row.key(setup) not in done]
    print(plan(rows, todo, setup.sizes), flush=True)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(measure, row, setup) for row in todo]):
            found = future.result()
            append_row(path, found)
            done[found["key"]] = found
            label = Row(found["section"], found["source"], found["model"]).label
            print(f"\n{label} ({found['seconds']} s)")
            show(found["found"])
    return list(done.values())


def plan(rows: list[Row], todo: list[Row], sizes: Sizes) -> str:
    """What is to be done, by section."""
    lines = [f"{len(rows)} rows, {len(rows) - len(todo)} of them done before"]
    for section in dict.fromkeys(row.section for row in todo):
        same = [row for row in todo if row.section == section]
        poses = sum(row.evaluations(sizes) for row in same)
        lines.append(f"  {section:14} {len(same):3} rows {poses:11,} network evaluations of a pose")
    total = sum(row.evaluations(sizes) for row in todo)
    return "\n".join([*lines, f"  {'all':14} {len(todo):3} rows {total:11,}"])


def show(found: Mapping[str, Any], indent: str = "  ") -> None:
    """Print nested numbers, one line for each innermost table."""
    for name, value in found.items():
        if not isinstance(value, Mapping):
            print(f"{indent}{name}: {value:.4g}")
        elif any(isinstance(inner, Mapping) for inner in value.values()):
            print(f"{indent}{name}")
            show(value, indent + "  ")
        else:
            numbers = "  ".join(f"{key} {number:.4g}" for key, number in value.items())
            print(f"{indent}{name:16} {numbers}", flush=True)


def by_model(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Numbers of a model, a source and a section."""
    results: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        results[row["model"]][row["source"]][row["section"]] = row["found"]
    return results


def claim(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, float]]:
    """Samples of each model, and of the baselines, against those of `true`: 1 for the same."""
    ratios = {}
    for source, reference in results.get("true", {}).items():
        made = {
            name if way == "model" else way: columns
            for name, sources in results.items()
            for section in ("samples", BASELINES)
            for way, columns in sources.get(source, {}).get(section, {}).items()
            if way not in ("model, unguided", "true")
        }
        same = reference.get("samples", {}).get("model")
        for name, columns in made.items() if same else ():
            ratios[f"{source}, {name}"] = {
                column: columns[column] / same[column]
                for column in ("Frechet", "autoencoder", "diversity")
            }
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("train", type=Path)
    parser.add_argument("measure", type=Path)
    parser.add_argument("weights", nargs="+", help="NAME=FILE")
    parser.add_argument("--count", type=int, default=600, help="poses of each source")
    parser.add_argument("--problems", type=int, default=168, help="of IK, for each source")
    parser.add_argument("--pairs", type=int, default=200, help="of interpolation")
    parser.add_argument("--timed", type=int, default=0, help="single IK queries that are timed")
    parser.add_argument("--sources", nargs="+", default=["zoo", "assets", "mocap"])
    parser.add_argument("--sections", nargs="+", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument(
        "--queries", nargs="+", help=f"models of which {', '.join(QUERIES)} are measured; all"
    )
    parser.add_argument(
        "--brief", action="store_true", help="no unguided samples, no denoising error"
    )
    parser.add_argument("--processes", type=int, default=1, help="rows made side by side")
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--out", type=Path, default=Path("out/posespace"))
    options = parser.parse_args()
    setup = Setup(
        options.train, options.measure, options.device, options.threads,
        Sizes(options.count, options.pairs, options.problems, brief=options.brief),
    )  # fmt: skip
    models = {text.rpartition("=")[0]: Path(text.rpartition("=")[2]) for text in options.weights}
    rows = [Row(BASELINES, source) for source in options.sources]
    rows += [
        Row(section, source, name, weights)
        for section in options.sections
        for source in options.sources
        for name, weights in models.items()
        if section not in QUERIES or name in (options.queries or models)
    ]
    found = run(rows, setup, options.out, processes=options.processes)
    results: dict[str, Any] = by_model(found)
    if ratios := claim(results):
        results["ratio to true"] = ratios
        print("\nratio to the samples of the model `true`")
        show(ratios)
    if options.timed:  # alone on the device: all models have one size
        torch.set_num_threads(options.threads)
        network = load_model(next(iter(models.values())), device=options.device)
        results["IK seconds"] = {
            source: ik_seconds(network, _bench(setup, source).given[slice(0, options.timed + 5)])
            for source in options.sources
        }
        show({"IK seconds": results["IK seconds"]})
    write_json(options.out / "posespace.json", results)


if __name__ == "__main__":
    main()
