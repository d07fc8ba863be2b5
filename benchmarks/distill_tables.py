"""What the rows of `benchmarks/distill.py` come to, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from statistics import median, pstdev, stdev
from typing import Any

from akd.motion.actions import ACTIONS
from benchmarks.distill_cases import CASES
from benchmarks.distill_controls import CONTROLS
from benchmarks.distill_parts import (
    ALL,
    ALONE,
    PAPER_VARIANTS,
    POSE_PRIOR,
    PRESET,
    WITH,
    WITHOUT,
)
from benchmarks.natural_range import NaturalRange

Row = dict[str, Any]
MARKER = "<!-- measured -->"
KINDS = {"start": "start", "motion": "distilled", "grounded": "grounded", "true": "true clip"}
"""What a row of a case holds, and what the tables call it."""


def line(row: Row) -> str:
    """One row for the terminal."""
    name = f"{row['part']}: {row['case']}: {row['variant']}"
    if "error" in row:
        return f"{name}: failed after {row['seconds']:.0f} s: {row['error']}"
    parts = []
    for kind, word in KINDS.items():
        if kind not in row:
            continue
        fails = row[kind].get("fails")
        held = "" if fails is None else f", fails {len(fails)}"
        parts.append(f"{word} {_said(row[kind])}{held}")
    return f"{name}: {'; '.join(parts)}; {row['seconds']:.0f} s"


def write_tables(rows: Sequence[Row], doc: Path | None, ranges: NaturalRange | None = None) -> None:
    """Print the tables and, with `doc`, put them below the marker of a page: what is written above
    it by hand stays."""
    found = (
        *case_tables(rows, ranges), controls_table(rows, ranges), people_table(rows, ranges),
        paper_table(rows), *other_tables(rows),
    )  # fmt: skip
    tables = "\n\n".join(t for t in found if t) + "\n"
    print(tables)
    if doc is not None:
        head = doc.read_text().partition(MARKER)[0] if doc.exists() else ""
        doc.parent.mkdir(parents=True, exist_ok=True)
        doc.write_text(f"{head}{MARKER}\n\n{tables}")


def rows_of(rows: Sequence[Row], part: str) -> dict[tuple[str, str], Row]:
    """Rows of a part that came to something, by case and variant, in the order of the cases; the
    latest of each."""
    places = {case.name: k for k, case in enumerate(CASES)}
    good = [r for r in rows if r["part"] == part and "error" not in r]
    good.sort(key=lambda r: places.get(r["case"], len(places)))
    return {(r["case"], r["variant"]): r for r in good}


def result(row: Row) -> Row:
    """Measures of the clip that `animate` says to use."""
    return row[row.get("best", "grounded" if "grounded" in row else "motion")]


def case_tables(rows: Sequence[Row], ranges: NaturalRange | None = None) -> list[str]:
    """What all seeds come to, every case, and every action."""
    whole = [r for r in rows if r["part"] == "cases"]
    found = [r for r in whole if "error" not in r]
    if not found:
        return []
    done = {(r["case"], r["seed"]) for r in found}
    errors = [
        f"- {r['case']}, seed {r['seed']}: {r['error']}"
        for r in whole
        if (r["case"], r["seed"]) not in done
    ]
    notes = dict.fromkeys(f"- {r['case']}: {note}" for r in found for note in r["notes"])
    return [
        results_table(found, ranges), each_case_table(found), "\n".join((*errors, *notes)),
        actions_table(found), cycle_table(found),
    ]  # fmt: skip


_CYCLE = {"jump": 1.0, "step": 1.0, "inside": 1.0, "kink": 1.0, "sideways": 100.0}
"""What is measured of a cycle, and the factor of its column."""


def cycle_table(found: Sequence[Row]) -> str:
    """Seam and drift of the gaits of every seed: mean, worst, and how many exceed the aims."""
    body = []
    for seed in sorted({r["seed"] for r in found}):
        rows = [r for r in found if r["seed"] == seed]
        for kind in ("motion", "grounded"):
            cycles = [r[kind]["cycle"] for r in rows if "cycle" in r.get(kind, {})]
            if not cycles:
                continue
            columns = [[factor * c[name] for c in cycles] for name, factor in _CYCLE.items()]
            over = sum(max(c["jump"], c["step"]) > 1.2 for c in cycles)
            drift = sum(c["sideways"] >= 0.005 for c in cycles)
            numbers = (f"{_mean(column):.2f}, {max(column):.2f}" for column in columns)
            body.append([str(seed), KINDS[kind], str(len(cycles)), *numbers, str(over), str(drift)])
    if not body:
        return ""
    about = (
        "Gaits, mean and worst. Jump (last frame to first), step (into the first frame), median "
        "step inside and kink, each over the 90th percentile of a joint's own, worst joint "
        "(`benchmarks/seam.py`); sideways: drift over the clip in % of height."
    )
    head = ["seed", "clips", "number", "jump", "step", "inside", "kink", "sideways, %"]
    head += ["jump or step over 1.2", "drift of 0.5 % or more"]
    return f"## Seams\n\n{about}\n\n{table(head, body)}"


def results_table(rows: Sequence[Row], ranges: NaturalRange | None) -> str:
    """All clips by seed and by group, beside the true ones."""
    seeds = sorted({r["seed"] for r in rows})
    by_seed = [[r for r in rows if r["seed"] == seed] for seed in seeds]
    numbers = [_numbers(some, ranges) for some in by_seed]
    body = [
        [f"seed {seed}", str(len(some)), *map(_share, values)]
        for seed, some, values in zip(seeds, by_seed, numbers, strict=True)
    ]
    if len(seeds) > 1:
        columns = list(zip(*numbers, strict=True))
        body.append(["**mean of seeds**", str(len(rows)), *map(_spread, columns)])
    for name, belongs in _GROUPS.items():
        if some := [r for r in rows if belongs(r)]:
            body.append([name, str(len(some)), *map(_share, _numbers(some, ranges))])
    true = [{**r, "best": "true"} for r in by_seed[0] if "true" in r]
    if true:
        body.append(["true clips", str(len(true)), *map(_share, _numbers(true, ranges))])
    return f"## Results\n\n{_RESULTS}\n\n{table(['', 'clips', *_COLUMNS], body)}"


_RESULTS = (
    "The clip that akd says to use: the grounded one, unless physics is left out (snakes) or "
    "lowers the score. Shares of the clips; B's score over that of the true clip, where B names "
    "the true clip as asked; stride over the true clip's, median over gaits; natural: features "
    "within two standard deviations of true clips of the same action and number of legs. The mean "
    "of seeds is given with the standard deviation."
)
_COLUMNS = ("named by B", "named by C", "score of true", "conditions hold", "stride", "natural")


def _legs(row: Row) -> int:
    return len(result(row)["contact"])


def _is_gait(row: Row) -> bool:
    return row["asked"] in ACTIONS and ACTIONS[row["asked"]].is_cyclic


_GROUPS: dict[str, Callable[[Row], bool]] = {
    "gaits": _is_gait,
    "other actions": lambda r: not _is_gait(r),
    "two legs": lambda r: _legs(r) == 2,
    "four legs": lambda r: _legs(r) == 4,
    "runs on two legs": lambda r: _legs(r) == 2 and r["asked"] == "run",
    "characters of the zoo": lambda r: r["case"].startswith("zoo"),
    "artists' files": lambda r: not r["case"].startswith("zoo"),
}


def _numbers(rows: Sequence[Row], ranges: NaturalRange | None) -> list[float | None]:
    """The columns of the results."""
    known = [r for r in rows if "true" in r and r["true"]["action"]["said"] == r["asked"]]
    true = _mean([_score(r["true"]) for r in known])
    strides = [
        result(r)["naturalness"]["stride"] / r["true"]["naturalness"]["stride"]
        for r in rows
        if "true" in r and _is_gait(r)
        and result(r).get("naturalness", {}).get("stride") is not None
        and r["true"].get("naturalness", {}).get("stride", 0.0) > 0.0
    ]  # fmt: skip
    return [
        _named(rows, "action"), _named(rows, "action_c"),
        _mean([_score(result(r)) for r in known]) / true if true else None,
        _mean([not result(r)["fails"] for r in rows]),
        median(strides) if strides else None,
        _natural(rows, ranges),
    ]  # fmt: skip


def _named(rows: Sequence[Row], judge: str) -> float | None:
    """Share of the clips that a recogniser names as asked."""
    said = [(result(r).get(judge) or {}).get("said") for r in rows]
    if not any(said):
        return None
    return _mean([name == r["asked"] for name, r in zip(said, rows, strict=True)])


def _natural(rows: Sequence[Row], ranges: NaturalRange | None) -> float | None:
    """Share of the features that are within two standard deviations."""
    away = [
        abs(value)
        for r in rows
        if ranges is not None
        for value in ranges.deviations(
            r["asked"], f"{_legs(r)} legs", result(r).get("naturalness", {})
        ).values()
    ]
    return _mean([value <= 2.0 for value in away]) if away else None


def each_case_table(rows: Sequence[Row]) -> str:
    """What B says of every case with every seed, and the conditions that fail with the first."""
    seeds = sorted({r["seed"] for r in rows})
    found = {(r["case"], r["seed"]): r for r in rows}
    body = []
    for case in CASES:
        some = [found.get((case.name, seed)) for seed in seeds]
        first = next((r for r in some if r is not None), None)
        if first is None:
            continue
        said = ["-" if r is None else _said(result(r)) for r in some]
        true = _said(first["true"]) if "true" in first else "-"
        body.append([case.name, *said, true, _fails(result(first)), f"{_seconds(first):.0f}"])
    head = ["case", *(f"seed {s}" for s in seeds), "true clip", f"fails, seed {seeds[0]}", "s"]
    about = (
        "Recogniser B's probability of what was asked for, and what it names; seconds of the first "
        "seed, beside other rows."
    )
    return f"## Cases\n\n{about}\n\n{table(head, body)}"


def actions_table(rows: Sequence[Row]) -> str:
    """How often every action is named as asked, and what it is taken for."""
    body = []
    for action in dict.fromkeys(r["asked"] for r in rows):
        some = [r for r in rows if r["asked"] == action]
        said = Counter(result(r)["action"]["said"] for r in some)
        named = said.pop(action, 0)
        by_c = _named(some, "action_c")
        other = ", ".join(f"{name} {count}" for name, count in said.most_common())
        true = sum(r["true"]["action"]["said"] == action for r in some if "true" in r)
        body.append([
            action, str(len(some)), str(named),
            "-" if by_c is None else str(round(by_c * len(some))), str(true), other,
        ])  # fmt: skip
    head = ["asked", "clips", "named by B", "by C", "true clips named by B", "B takes others for"]
    return f"## Actions\n\n{table(head, body)}"


def controls_table(rows: Sequence[Row], ranges: NaturalRange | None) -> str:
    """The cases before and after grounding, the controls and the true clips, all seeds."""
    groups = {"result": ("cases", ALL, None), "before grounding": ("cases", ALL, "motion")}
    groups |= {name: ("controls", name, None) for name in CONTROLS}
    groups |= {"true clips": ("cases", ALL, "true")}
    body = []
    for name, (part, variant, kind) in groups.items():
        some = [
            r if kind is None else {**r, "best": kind} for r in rows
            if (r["part"], r["variant"]) == (part, variant) and "error" not in r
            and (kind is None or kind in r)
        ]  # fmt: skip
        if some:
            held = _mean([not result(r)["fails"] for r in some])
            shares = _named(some, "action"), _named(some, "action_c"), held, _natural(some, ranges)
            worst = [f"{_mean(column):.2f}" for column in zip(*map(_footing, some), strict=True)]
            body.append([name, str(len(some)), *map(_share, shares), *worst])
    if not any(row[0] in CONTROLS for row in body):
        return ""
    about = (
        "A condition that the sine gait meets is a sanity check, not a result. Skate in parts of "
        "the body's speed and contact as a share of the time are those of the worst foot, depth "
        "and float in % of the body's height: means."
    )
    head = ["", "clips", "named by B", "by C", "conditions hold", "natural", "skate", "contact",
            "depth, %", "float, %"]  # fmt: skip
    return f"## Controls\n\n{about}\n\n{table(head, body)}"


def _footing(row: Row) -> list[float]:
    """Skate and contact of the worst foot, depth and float in % of the body's height."""
    motion = result(row)
    return [
        max(motion["skate"], default=0.0), min(motion["contact"], default=0.0),
        100 * motion["penetration"], 100 * motion["float_"],
    ]  # fmt: skip


def people_table(rows: Sequence[Row], ranges: NaturalRange | None) -> str:
    """Clips without and with the pose model as a loss, of the same case and seed."""
    found = {
        (r["case"], r["seed"], r["variant"]): r
        for r in rows
        if r["part"] == "people" and "error" not in r
    }
    keys = [key[:2] for key in found if key[2] == ALL]
    pairs = [(found[*k, ALL], found[*k, POSE_PRIOR]) for k in keys if (*k, POSE_PRIOR) in found]
    if len(pairs) < 2:
        return ""
    measures: dict[str, Callable[[Row], float | None]] = {
        "lean, degrees": lambda r: result(r)["naturalness"]["lean"],
        "natural": lambda r: _natural([r], ranges),
        "named by B": lambda r: _named([r], "action"),
        "named by C": lambda r: _named([r], "action_c"),
        "B's probability": lambda r: _score(result(r)),
        "conditions hold": lambda r: float(not result(r)["fails"]),
        "processor seconds": lambda r: _seconds(r, "processor"),
    }
    body = []
    for name, measure in measures.items():
        values = [(measure(a), measure(b)) for a, b in pairs]
        known = [(a, b) for a, b in values if a is not None and b is not None]
        if not known:
            continue
        more = [b - a for a, b in known]
        means = [_mean(column) for column in zip(*known, strict=True)]
        error = stdev(more) / len(more) ** 0.5 if len(more) > 1 else 0.0
        body.append([name, *(f"{m:.3f}" for m in means), f"{_mean(more):+.3f} ± {error:.3f}"])
    about = (
        f"{len(pairs)} pairs of clips of one case and seed, the clip that akd says to use: means, "
        "and the mean difference with its standard error."
    )
    head = ["", "without", "with", "difference"]
    return f"## The pose model as a loss\n\n{about}\n\n{table(head, body)}"


def paper_table(rows: Sequence[Row]) -> str:
    """The paper's setting and its ablation, distilled and tracked, over the cases of all."""
    found = rows_of(rows, "paper")
    variants = [v for v in PAPER_VARIANTS if any(key[1] == v for key in found)]
    cases = list(dict.fromkeys(case for case, _ in found))
    shared = [c for c in cases if all((c, v) in found for v in variants)]
    if not shared:
        return ""
    body, each = [], []
    for variant in variants:
        name = "as it is" if variant == ALONE else variant
        some = [found[case, variant] for case in shared]
        for kind, word in (("motion", "distilled"), ("grounded", "tracked")):
            if all(kind in r for r in some):
                chosen = [{**r, "best": kind} for r in some]
                named = sum(r[kind]["action"]["said"] == r["asked"] for r in some)
                floats = _mean([100 * r[kind]["float_"] for r in some])
                body.append([f"{name}, {word}", str(named), *_measures(chosen), f"{floats:.2f}"])
        each += [[r["case"], name, _said(r["motion"]), _said(result(r)), _fails(result(r))]
                 for r in some]  # fmt: skip
    about = _ABOUT.format(count=len(shared), which="clips") + " Float in % of body height."
    return "\n\n".join((
        f"## The paper's setting\n\n{about}",
        table(["", "named", *_MEASURES, "float, %"], body),
        table(["case", "", "distilled", "result", "fails"], each),
    ))  # fmt: skip


def _spread(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return f"{_mean(known):.3f}" + (f" ± {pstdev(known):.3f}" if len(known) > 1 else "")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def other_tables(rows: Sequence[Row]) -> list[str]:
    """Ablation, field and the long run, where they were made."""
    return [
        ablation_table(rows, "Without each part", WITHOUT),
        ablation_table(rows, "With more", (PRESET, *WITH)),
        field_table(rows),
        full_table(rows),
    ]


_MEASURES = ("action", "hold", "fails", "left-right", "contact", "skate", "depth, %", "rough", "s")
_ABOUT = (
    "Means over {count} cases, {which}: action score; cases in which all conditions "
    "hold; conditions that fail; correlation of left and right feet (the worst pair; gallops left "
    "out); contact of the least standing foot; skate of the worst foot; depth under the ground in "
    "% of body height; roughness in g; seconds."
)


def _measures(rows: Sequence[Row]) -> list[str]:
    """Columns of the ablation, means over the rows."""
    motions = [result(r) for r in rows]
    pairs = [
        max(m["alternation"]) for r, m in zip(rows, motions, strict=True)
        if m["alternation"] and ACTIONS[r["asked"]].alternates_on(len(m["contact"]))
    ]  # fmt: skip
    return [
        f"{_mean([_score(m) for m in motions]):.3f}",
        f"{sum(not m['fails'] for m in motions)} of {len(motions)}",
        f"{_mean([len(m['fails']) for m in motions]):.1f}",
        f"{_mean(pairs):.2f}",
        f"{_mean([min(m['contact'], default=0.0) for m in motions]):.2f}",
        f"{_mean([max(m['skate'], default=0.0) for m in motions]):.2f}",
        f"{100 * _mean([m['penetration'] for m in motions]):.2f}",
        f"{_mean([m['roughness'] for m in motions]):.2f}",
        f"{_mean([_seconds(r) for r in rows]):.0f}",
    ]


def ablation_table(rows: Sequence[Row], title: str, changes: Collection[str]) -> str:
    """What each of some changes does, over the cases that all of them have."""
    found = rows_of(rows, "ablation")
    # The preset itself is what the cases are of: no need to do them twice.
    found |= {(case, PRESET): r for (case, _), r in rows_of(rows, "cases").items()}
    variants = [v for v in (ALONE, *changes) if any(key[1] == v for key in found)]
    variants = list(dict.fromkeys(variants))
    cases = list(dict.fromkeys(case for case, _ in found))
    shared = [c for c in cases if all((c, v) in found for v in variants)]
    if len(variants) < 2 or not shared:
        return ""
    body = [[v, *_measures([found[c, v] for c in shared])] for v in variants]
    about = _ABOUT.format(count=len(shared), which="grounded motions")
    return f"## {title}\n\n{about}\n\n{table(['', *_MEASURES], body)}"


def field_table(rows: Sequence[Row]) -> str:
    """Skeleton and deformation field side by side."""
    found = rows_of(rows, "field")
    whole = {case: r for (case, _), r in rows_of(rows, "cases").items()}
    kinds = list(dict.fromkeys(variant for _, variant in found))
    cases = [c for c in whole if all((c, k) in found for k in kinds)]
    if not found or not cases:
        return ""
    head = ["case"]
    for kind in ("skeleton", *kinds):
        head += [f"{kind}: action", "shape change, %", "swing, %"]
    body, sums = [], []
    for case in cases:
        motions = [whole[case]["motion"], *(found[case, k]["motion"] for k in kinds)]
        body.append([case, *(cell for m in motions for cell in _field_cells(m))])
        sums.append([v for m in motions for v in (_score(m), 100 * m["shape"], 100 * m["swing"])])
    means = [_mean(column) for column in zip(*sums, strict=True)]
    formats = ("{:.3f}", "{:.1f}", "{:.1f}")
    body.append(["mean", *(formats[i % 3].format(value) for i, value in enumerate(means))])
    about = (
        "Shape change is that of distances between neighbouring Gaussians against the neutral "
        "pose; swing is how far Gaussians go relative to the body, in body heights: what does not "
        "move keeps its shape."
    )
    return f"## A deformation field in place of the skeleton\n\n{about}\n\n{table(head, body)}"


def _field_cells(motion: Row) -> list[str]:
    return [_said(motion), f"{100 * motion['shape']:.1f}", f"{100 * motion['swing']:.1f}"]


def full_table(rows: Sequence[Row]) -> str:
    """The default against the long run, case by case."""
    whole, parts = rows_of(rows, "cases"), rows_of(rows, "ablation")
    body = []
    for (case, variant), long in rows_of(rows, "full").items():
        beside = {PRESET: whole.get((case, ALL)), ALONE: parts.get((case, ALONE)), variant: long}
        for name, row in beside.items():
            if row is not None:
                last = row.get("grounded", row["motion"])
                cells = [_said(row["motion"]), _fails(row["motion"]), _said(last), _fails(last)]
                steps = f"{row['iterations']:,}" + (" each" if name == PRESET else "")
                body.append([case, name, steps, *cells, f"{_seconds(row):.0f}"])
    if not body:
        return ""
    head = ["case", "budget", "iterations", "distilled", "fails", "grounded", "fails", "s"]
    return f"## The long run\n\n{table(head, body)}"


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _score(motion: Row) -> float:
    """Recogniser B's probability of what was asked for."""
    return (motion.get("action") or {}).get("probability") or 0.0


def _said(motion: Row) -> str:
    """The score, and what else it looks like where it is something else."""
    action = motion.get("action")
    return "-" if not action else f"{_score(motion):.2f} {action['said']}"


def _seconds(row: Row, clock: str = "stages") -> float:
    """What the search took, with grounding but without measuring and films."""
    return sum(s for n, s in row[clock].items() if n not in ("measure", "film"))


def _fails(motion: Row) -> str:
    """The conditions that fail, without what they must be."""
    return "; ".join(text.split(", must")[0] for text in motion["fails"]) or "none"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
