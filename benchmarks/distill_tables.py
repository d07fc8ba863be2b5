"""What the rows of `benchmarks/distill.py` come to, as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import pstdev
from typing import Any

from akd.motion.actions import ACTIONS
from benchmarks.distill_cases import CASES
from benchmarks.distill_controls import CONTROLS, SINE
from benchmarks.distill_parts import ALL, ALONE, PRESET, WITH, WITHOUT
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
    found = (*case_tables(rows), controls_table(rows, ranges), *other_tables(rows))
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


def case_tables(rows: Sequence[Row]) -> list[str]:
    """Every case with the first seed, the sums over them, who is taken for what, and all seeds."""
    seeds = sorted({r["seed"] for r in rows if r["part"] == "cases" and "error" not in r})
    if not seeds:
        return []
    by_seed = {
        seed: list(rows_of([r for r in rows if r["seed"] == seed], "cases").values())
        for seed in seeds
    }
    found = by_seed[seeds[0]]
    failed = [r for r in rows if r["part"] == "cases" and "error" in r and r["seed"] == seeds[0]]
    body = [
        [
            r["case"],
            *(_said(r[kind]) if kind in r else "-" for kind in KINDS),
            _fails(r["motion"]),
            _fails(r["grounded"]) if "grounded" in r else "-",
            f"{_seconds(r):.0f}",
        ]
        for r in found
    ]
    head = ["case", *KINDS.values(), "distilled fails", "grounded fails", "s"]
    done = {r["case"] for r in found}
    errors = "\n".join(f"- {r['case']}: {r['error']}" for r in failed if r["case"] not in done)
    matrices = [
        f"Asked (rows) and said of the {KINDS[kind]} motions (columns):\n\n{confusion(found, kind)}"
        for kind in ("motion", "grounded", "true")
        if any(kind in r for r in found)
    ]
    return [
        seeds_table(by_seed),
        f"## Cases, seed {seeds[0]}", table(head, body), errors, summary(found),
        "## Confusion", *matrices, grounding_table(found),
    ]  # fmt: skip


def seeds_table(by_seed: Mapping[int, Sequence[Row]]) -> str:
    """Grounded clips of every seed: what they come to, and how much that differs."""
    if len(by_seed) < 2:
        return ""
    columns = {
        "action score": lambda r: _score(r["grounded"]),
        "of the true clips'": None,
        "named as asked": lambda r: r["grounded"]["action"]["said"] == r["asked"],
        "all conditions hold": lambda r: not r["grounded"]["fails"],
        "conditions hold before grounding": lambda r: not r["motion"]["fails"],
    }
    numbers = []
    for rows in by_seed.values():
        known = [r for r in rows if r["true"]["action"]["said"] == r["asked"]]
        ratio = _mean([_score(r["grounded"]) for r in known]) / _mean(
            [_score(r["true"]) for r in known]
        )
        numbers.append(
            [ratio if f is None else _mean([f(r) for r in rows]) for f in columns.values()]
        )
    body = [[str(s), *(f"{x:.3f}" for x in row)] for s, row in zip(by_seed, numbers, strict=True)]
    sides = list(zip(*numbers, strict=True))
    body.append(["**mean**", *(f"{_mean(side):.3f}" for side in sides)])
    body.append(["**highest - lowest**", *(f"{max(side) - min(side):.3f}" for side in sides)])
    about = (
        "Grounded clips; shares of the cases. The ratio to the true clips counts only cases whose "
        "true clip recogniser B names as asked."
    )
    return f"## Seeds\n\n{about}\n\n{table(['seed', *columns], body)}"


def summary(found: Sequence[Row]) -> str:
    """The numbers that the cases come to."""
    out = []
    with_true = [r for r in found if "true" in r]
    for kind, word in KINDS.items():
        having = [r for r in found if kind in r]
        if not having:
            continue
        scores = [_score(r[kind]) for r in having]
        text = f"- {word}: mean action score {_mean(scores):.3f} over {len(having)} cases"
        both = [r for r in with_true if kind in r]
        true = _mean([_score(r["true"]) for r in both])
        if kind != "true" and both and true > 0:
            ratio = _mean([_score(r[kind]) for r in both]) / true
            text += f", {ratio:.2f} of the true clips' over the {len(both)} that have one"
        right = sum(r[kind]["action"]["said"] == r["asked"] for r in having)
        held = sum(not r[kind]["fails"] for r in having)
        out.append(f"{text}; named as asked in {right}; all conditions hold in {held}")
    times = sorted(_seconds(r) for r in found)
    out.append(
        f"- time of a case: median {times[len(times) // 2]:.0f} s, longest {times[-1]:.0f} s"
    )
    out += [f"- {r['case']}: {note}" for r in found for note in r["notes"]]
    return "\n".join(out)


_GROUNDED = {"skate": max, "contact": min, "penetration": None, "float_": None}
"""What grounding changes, and which foot counts; lengths are of no foot."""


def grounding_table(found: Sequence[Row]) -> str:
    """The worst foot of every case before and after grounding."""
    body, sums = [], []
    for row in found:
        if "grounded" not in row:
            continue
        before, after = (_footing(row[kind]) for kind in ("motion", "grounded"))
        body.append(
            [row["case"], *(f"{a:.2f} > {b:.2f}" for a, b in zip(before, after, strict=True))]
        )
        sums.append((before, after))
    if not body:
        return ""
    columns = [
        [_mean(column) for column in zip(*side, strict=True)] for side in zip(*sums, strict=True)
    ]
    body.append(["**mean**", *(f"{a:.2f} > {b:.2f}" for a, b in zip(*columns, strict=True))])
    about = (
        "Skate in parts of the body's speed, contact as a share of the time, of the worst foot; "
        "penetration and float in % of the body's height."
    )
    head = ["case", "skate", "contact", "penetration, %", "float, %"]
    return f"## Before and after grounding\n\n{about}\n\n{table(head, body)}"


def _footing(motion: Row) -> list[float]:
    """The numbers of `_GROUNDED`."""
    return [
        100 * motion[name] if worst is None else worst(motion[name], default=0.0)
        for name, worst in _GROUNDED.items()
    ]


def confusion(found: Sequence[Row], kind: str) -> str:
    """Asked x said."""
    pairs = [(r["asked"], r[kind]["action"]["said"]) for r in found if kind in r]
    asked = list(dict.fromkeys(a for a, _ in pairs))
    said = list(dict.fromkeys([*asked, *(s for _, s in pairs)]))
    return table(
        ["asked", *said], [[a, *(str(pairs.count((a, s)) or "") for s in said)] for a in asked]
    )


def controls_table(rows: Sequence[Row], ranges: NaturalRange | None) -> str:
    """The cases, the controls and the true clips side by side, over all seeds: mean and spread."""
    groups = {"distilled": ("cases", ALL, "motion"), "grounded": ("cases", ALL, "grounded")}
    groups |= {name: ("controls", name, "grounded") for name in CONTROLS}
    groups |= {"true clips": ("cases", ALL, "true")}
    body = []
    for name, (part, variant, made) in groups.items():
        some = [
            r for r in rows
            if (r["part"], r["variant"]) == (part, variant) and "error" not in r
        ]  # fmt: skip
        seeds = sorted({r["seed"] for r in some})
        kind = "motion" if name == SINE else made
        each = [[r for r in some if r["seed"] == seed and kind in r] for seed in seeds]
        if any(each):
            numbers = [_control_numbers(found, kind, ranges) for found in each if found]
            body.append([name, str(len(some)), *map(_spread, zip(*numbers, strict=True))])
    if not any(row[0] in CONTROLS for row in body):
        return ""
    about = (
        "Shares of the cases, mean and standard deviation over seeds. A condition that the sine "
        "gait meets is a sanity check, not a result. Natural: features within two standard "
        "deviations of true clips of the same action and number of legs."
    )
    head = ["", "rows", "named as asked by B", "by C", "all conditions hold", "natural"]
    return f"## Controls\n\n{about}\n\n{table(head, body)}"


def _control_numbers(
    rows: Sequence[Row], kind: str, ranges: NaturalRange | None
) -> list[float | None]:
    said = [[r[kind].get(judge, {}).get("said") for r in rows] for judge in ("action", "action_c")]
    right: list[float | None] = [
        _mean([s == r["asked"] for s, r in zip(names, rows, strict=True)]) if any(names) else None
        for names in said
    ]
    held = _mean([not r[kind]["fails"] for r in rows])
    away = [
        abs(value)
        for r in rows
        if ranges is not None
        for value in ranges.deviations(
            r["asked"], f"{len(r[kind]['contact'])} legs", r[kind].get("naturalness", {})
        ).values()
    ]
    return [*right, held, _mean([value <= 2.0 for value in away]) if away else None]


def _spread(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return f"{_mean(known):.3f}" + (f" ± {pstdev(known):.3f}" if len(known) > 1 else "")


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
    "Means over {count} cases, grounded motions: action score; cases in which all conditions "
    "hold; conditions that fail; correlation of left and right feet (the worst pair; gallops left "
    "out); contact of the least standing foot; skate of the worst foot; depth under the ground in "
    "% of body height; roughness in g; seconds."
)


def _measures(rows: Sequence[Row]) -> list[str]:
    """Columns of the ablation, means over the rows."""
    motions = [r.get("grounded", r["motion"]) for r in rows]
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
    about = _ABOUT.format(count=len(shared))
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


def _seconds(row: Row) -> float:
    """What the search took, with grounding but without measuring and films."""
    return sum(s for n, s in row["stages"].items() if n not in ("measure", "film"))


def _fails(motion: Row) -> str:
    """The conditions that fail, without what they must be."""
    return "; ".join(text.split(", must")[0] for text in motion["fails"]) or "none"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
