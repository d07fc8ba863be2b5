"""`python -m fuzz [PARSER ...]`: run the harnesses under atheris, from the robustness files.

Prints a line of numbers for each parser, and at the end a table of all runs in `--rows`. Findings
are left in `--findings`, each with the end of its log, and make the exit code 1. The corpus stays,
and a later run goes on from it.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import re
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.rows import append_row, read_rows
from fuzz.harness import MODULES, NEEDS

PARSERS = tuple(name for parsers in MODULES.values() for name in parsers)
_MOST_FINDINGS = 10
"""Of a parser: one fault is found again and again."""


@dataclass
class Tally:
    """Numbers of all processes of a parser."""

    inputs: int = 0
    coverage: int = 0
    """Edges of akd's bytecode."""
    begun_with: int = 0
    """Edges that the corpus covers before its first mutation."""
    slowest: float = 0.0
    """Seconds, or 0 where none took 50 ms."""
    memory: int = 0
    """Peak, MiB."""
    findings: int = 0
    processor: float = 0.0
    """Seconds of processor time, imports included."""

    def line(self, parser: str, seconds: float) -> str:
        """One line for people."""
        return (
            f"{parser}: {self.inputs} inputs in {seconds:.0f} s ({self.processor:.0f} s of "
            f"processor time), {self.coverage} edges, {self.new} of them new, slowest "
            f"{self.said_slowest()} s, peak {self.memory} MiB, {self.findings} findings"
        )

    @property
    def new(self) -> int:
        """Edges that mutations found."""
        return self.coverage - self.begun_with

    def said_slowest(self) -> str:
        """Seconds of the slowest input."""
        return f"{self.slowest:.2f}" if self.slowest else "below 0.05"

    def after(self, earlier: Tally) -> Tally:
        """Numbers of both."""
        return Tally(
            self.inputs + earlier.inputs, max(self.coverage, earlier.coverage),
            earlier.begun_with or self.begun_with, max(self.slowest, earlier.slowest),
            max(self.memory, earlier.memory), self.findings + earlier.findings,
            self.processor + earlier.processor,
        )  # fmt: skip


def fuzz_parser(parser: str, given: argparse.Namespace) -> Tally:
    """Processes one after another, which share the corpus, until the time is up."""
    tally, began = Tally(), time.monotonic()
    if importlib.util.find_spec(needed := NEEDS.get(parser, "numpy")) is None:
        print(f"{parser}: left out, {needed} is not installed", flush=True)
        return tally
    findings = given.findings / parser
    findings.mkdir(parents=True, exist_ok=True)
    while (left := math.ceil(given.seconds - (time.monotonic() - began))) > 0:
        words = ["--seconds", str(left), "--assets", str(given.assets)]
        words += ["--corpus", str(given.corpus / parser), "--findings", str(findings)]
        before = tally.inputs
        code, log = _run([sys.executable, "-m", "fuzz.process", parser, *words], tally)
        if code:
            tally.findings += 1
            (findings / f"log-{tally.findings}.txt").write_text(log, "utf-8")
        if tally.findings >= _MOST_FINDINGS or tally.inputs == before:
            break
    print(tally.line(parser, time.monotonic() - began), flush=True)
    known = totals(given.rows).get(parser, Tally())
    append_row(given.rows, {"key": parser, **asdict(tally.after(known))})
    return tally


def _run(command: list[str], tally: Tally) -> tuple[int, str]:
    """The exit code of a process and the end of what it said; its numbers are added."""
    tail: deque[str] = deque(maxlen=200)
    done = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tail.append(line)
            if found := re.match(r"#(\d+)\s.*?cov: (\d+)", line):
                done, tally.coverage = int(found[1]), max(tally.coverage, int(found[2]))
                if "INITED" in line:
                    tally.begun_with = tally.begun_with or int(found[2])
            elif found := re.match(r"slowest input, seconds: ([\d.]+)", line):
                tally.slowest = max(tally.slowest, float(found[1]))
            elif found := re.match(r"stat::(number_of_executed_units|peak_rss_mb):\s+(\d+)", line):
                if found[1] == "peak_rss_mb":
                    tally.memory = max(tally.memory, int(found[2]))
                else:
                    done = max(done, int(found[2]))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    tally.inputs += done
    tally.processor += usage.ru_utime + usage.ru_stime
    return process.returncode, "".join(tail)


def totals(rows: Path) -> dict[str, Tally]:
    """Numbers of all runs so far, by parser."""
    names = asdict(Tally())
    return {r["key"]: Tally(**{k: r[k] for k in names}) for r in read_rows(rows)}


def table(rows: Path) -> str:
    """All runs, in Markdown."""
    lines = [
        "| parser | inputs | processor min | edges | new | slowest s | MiB | findings |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for parser, tally in totals(rows).items():
        lines.append(
            f"| {parser} | {tally.inputs:,} | {tally.processor / 60.0:.1f} | {tally.coverage} | "
            f"{tally.new} | {tally.said_slowest()} | {tally.memory} | {tally.findings} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Read the command line and fuzz. Returns 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("parsers", nargs="*", metavar="PARSER", help=f"out of {', '.join(PARSERS)}")
    parser.add_argument("--seconds", type=int, default=60, help="of each parser")
    parser.add_argument("--jobs", type=int, default=1, help="parsers at a time")
    parser.add_argument("--assets", type=Path, default=Path("../shared/assets/robustness"))
    parser.add_argument("--corpus", type=Path, default=Path("out/fuzz/corpus"))
    parser.add_argument("--findings", type=Path, default=Path("out/fuzz/findings"))
    parser.add_argument(
        "--rows", type=Path, default=Path("out/fuzz/rows.jsonl"), help="of all runs"
    )
    given = parser.parse_args()
    if unknown := set(given.parsers) - set(PARSERS):
        parser.error(f"PARSER must be out of {', '.join(PARSERS)}, got {', '.join(unknown)}")
    if importlib.util.find_spec("atheris") is None:
        parser.error("fuzzing needs atheris: pip install 'akd[fuzz]'")
    with ThreadPoolExecutor(given.jobs) as pool:
        tallies = pool.map(partial(fuzz_parser, given=given), given.parsers or PARSERS)
        found = any(tally.findings for tally in list(tallies))
    print(table(given.rows))
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
