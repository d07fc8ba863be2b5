"""Rows and tables of `benchmarks/fit.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles

from scipy.stats import spearmanr

JUDGED = ("true mask", "found mask", "spoiled")
"""Parts with one view, over which stated quality is compared with true error."""
BIPEDS = ("man", "woman", "child", "ogre", "trex", "allosaur", "raptor", "ostrich")
_SCORES = (0.7, 0.6, 0.5)
"""Where bands of the score end."""
PEOPLE = ("man", "woman", "child")


@dataclass(frozen=True)
class Row:
    """How one fit went."""

    key: str
    """What was fitted and how."""
    part: str
    variant: str
    clip: str
    error: float
    """Mean joint error, share of the height."""
    degrees: float
    swapped: bool
    score: float
    overlap: float
    seconds: float
    failed: str = ""
    stated: dict[str, float] = field(default_factory=dict)
    """What the stated quality is made of."""
    heading: float | None = None
    """Degrees about the vertical, one for all frames, by which the fit is off."""
    ahead: float | None = None
    """The error without them."""

    @classmethod
    def of_failure(cls, key: str, part: str, variant: str, clip: str, why: str) -> Row:
        """A video that was refused."""
        return cls(key, part, variant, clip, 1.0, 180.0, True, 0.0, 0.0, 0.0, why)


def tables(rows: Sequence[Row], title: str, *, timing: bool = False) -> str:
    """Everything as Markdown; with `timing`, how long the fits took."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.part, row.variant].append(row)
    lines = [
        title,
        "",
        "| part | variant | clips | joint error, % of height | median | degrees | legs exchanged | "
        "heading off, degrees | error without, % | overlap | score | failed |",
        "|" + " --- |" * 12,
    ]
    for (part, variant), group in groups.items():
        good = [row for row in group if not row.failed]
        if not good:
            lines.append(f"| {part} | {variant} | {len(group)} |" + " |" * 8 + f" {len(group)} |")
            continue
        errors = [100 * row.error for row in good]
        headings = _mean("{:.1f}", [row.heading for row in good])
        ahead = _mean("{:.2f}", [row.ahead and 100 * row.ahead for row in good])
        lines.append(
            f"| {part} | {variant} | {len(group)} | {fmean(errors):.2f} | "
            f"{median(errors):.2f} | {fmean(r.degrees for r in good):.1f} | "
            f"{sum(r.swapped for r in good)} | {headings} | {ahead} | "
            f"{fmean(r.overlap for r in good):.3f} | {fmean(r.score for r in good):.3f} | "
            f"{len(group) - len(good)} |"
        )
    lines += ["", *by_kind(rows)]
    judged = [row for row in rows if row.stated and row.part in JUDGED]
    if timing and len(judged) > 1:
        seconds = quantiles((row.seconds for row in judged), n=20, method="inclusive")
        lines += ["", f"Seconds a fit: p50 {seconds[9]:.1f}, p95 {seconds[18]:.1f}, over "
                      f"{len(judged)} fits of one view."]  # fmt: skip
    if len(judged) > 4:
        found = spearmanr([row.score for row in judged], [-row.error for row in judged])
        lines += ["", f"Rank correlation of stated quality with true error: {found[0]:.2f} over "
                      f"{len(judged)} fits."]  # fmt: skip
        lines += ["", "Of its parts, and of what it could be made of, with the error: "
                      + part_correlations(judged) + "."]  # fmt: skip
        lines += ["", *by_score(judged)]
    lines += ["", "| part | variant | clip | error, % | degrees | exchanged | score |",
              "|" + " --- |" * 7]  # fmt: skip
    lines += [
        f"| {r.part} | {r.variant} | {r.clip} | {100 * r.error:.2f} | {r.degrees:.1f} | "
        f"{'yes' if r.swapped else 'no'} | {r.failed or f'{r.score:.3f}'} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def _mean(form: str, values: Sequence[float | None]) -> str:
    """Nothing where some are not known: rows of an older version."""
    known = [value for value in values if value is not None]
    return form.format(fmean(known)) if len(known) == len(values) else ""


def by_kind(rows: Sequence[Row]) -> list[str]:
    """Fits with one view and the true mask, by what the clips show."""
    own = [row for row in rows if row.part == "true mask" and not row.failed]
    species = {row.key: row.clip.split()[0] for row in own}
    kinds = {
        "textured": [row for row in own if row.clip.endswith("textured")],
        "role colours": [row for row in own if row.clip.endswith("roles")],
        "walks past the camera": [row for row in own if " walk," in row.clip],
        "faster gaits on the spot": [row for row in own if " walk," not in row.clip],
        "people": [row for row in own if species[row.key] in PEOPLE],
        "other bipeds": [row for row in own if species[row.key] in set(BIPEDS) - set(PEOPLE)],
        "quadrupeds": [row for row in own if species[row.key] not in BIPEDS],
    }
    lines = [
        "| one view, true mask | clips | joint error, % of height | median | degrees | "
        "under 5 % and 15 degrees |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, group in kinds.items():
        if group:
            errors = [100 * row.error for row in group]
            met = sum(row.error < 0.05 and row.degrees < 15.0 for row in group)
            lines.append(
                f"| {name} | {len(group)} | {fmean(errors):.2f} | {median(errors):.2f} | "
                f"{fmean(row.degrees for row in group):.1f} | {met} |"
            )
    return lines


def by_score(judged: Sequence[Row]) -> list[str]:
    """What a score says of the error."""
    lines = [
        "| score | fits | joint error, median, % of height | highest | legs exchanged |",
        "| --- | --- | --- | --- | --- |",
    ]
    ends = (*_SCORES, 0.0)
    for high, low in zip((1.0, *_SCORES), ends, strict=True):
        group = [row for row in judged if low <= row.score and (row.score < high or high == 1.0)]
        if group:
            errors = [100 * row.error for row in group]
            lines.append(
                f"| {low:.1f} to {high:.1f} | {len(group)} | {median(errors):.2f} | "
                f"{max(errors):.2f} | {sum(row.swapped for row in group)} |"
            )
    return lines


def part_correlations(judged: Sequence[Row]) -> str:
    """Rank correlation of each number that a fit states with the true error."""
    errors = [row.error for row in judged]
    found = []
    for name in dict.fromkeys(name for row in judged for name in row.stated):
        values = [row.stated.get(name, 0.0) for row in judged]
        if len(set(values)) > 1:
            found.append(f"{name} {spearmanr(values, errors)[0]:.2f}")
    return ", ".join(found)
