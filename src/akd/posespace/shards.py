"""Harvested poses on disk: one shard of poses and one table of provenance for each job.

A job is a body and a prompt. Its table is written last, so that a job whose table exists is done.
Tables are Parquet where pyarrow is installed, else JSON lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from akd.base.files import list_files, replace_atomically, write_text
from akd.posespace.dataset import BodyPoses, join_poses, save_poses

Row = Mapping[str, str | int | float | bool]
_TABLES = (".parquet", ".jsonl")


def is_done(folder: Path, job: str) -> bool:
    """Whether the table of a job exists."""
    return any((folder / f"{job}{suffix}").is_file() for suffix in _TABLES)


def write_shard(folder: Path, job: str, poses: BodyPoses, rows: Sequence[Row]) -> None:
    """Write the poses of a job, where there are any, and then its table, one row a pose."""
    if poses.clips:
        save_poses(join_poses([poses]), folder / f"{job}.safetensors")
    if find_spec("pyarrow") is None:
        write_text(folder / f"{job}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        return
    from pyarrow import Table, parquet  # pyright: ignore[reportMissingImports]

    with replace_atomically(folder / f"{job}.parquet") as path:
        parquet.write_table(Table.from_pylist([dict(row) for row in rows]), path)


def read_tables(folder: Path) -> Iterator[Row]:
    """The rows of all tables of a folder."""
    for path in list_files(folder, _TABLES):
        if path.suffix == ".jsonl":
            yield from map(json.loads, path.read_text("utf-8").splitlines())
        else:
            from pyarrow import parquet  # pyright: ignore[reportMissingImports]

            yield from parquet.read_table(path).to_pylist()
