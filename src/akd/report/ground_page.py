"""The page of `akd ground`: videos, 3D view, metrics before and after, torques and contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from akd.base.files import write_text
from akd.metrics.motion_metrics import MotionMetrics
from akd.physics.ground import Grounded
from akd.report.cuboids import cuboid_frames
from akd.report.page import (
    Film,
    Row,
    film_scripts,
    films,
    header,
    links,
    notes,
    outcome,
    page,
    section,
    strip,
    table,
    wide_image,
)
from akd.report.physics_charts import contact_charts, search_charts, torque_charts


def write_ground_page(
    path: Path,
    grounded: Grounded,
    *,
    title: str,
    about: Sequence[str],
    videos: Mapping[str, Path],
    scene: str,
    images: Mapping[str, Path],
    files: Mapping[str, str],
    fps: float,
    metrics: Mapping[str, MotionMetrics],
    kept_clip: str | None,
) -> None:
    """Write one self-contained page.

    Args:
        path: The page, .html.
        grounded: The tracked clip.
        title: Heading of the page.
        about: Lines under it.
        videos: MP4 files by caption, played in step. They become part of the page.
        scene: HTML of `scene3d`, or ""; its clock is that of the videos.
        images: PNG files by caption, such as rendered frames. They become part of the page.
        files: What each file beside the page is, by its name.
        fps: Of the grounded clip.
        metrics: Of the clip as it was and of the grounded one: `clip` and `grounded`.
        kept_clip: Why to keep the clip as it was; None where the grounded one is better.
    """
    parts = [header(title, above="akd ground"), _outcome(grounded, title, metrics, kept_clip)]
    parts += [f'<p class="about">{escape(line)}</p>' for line in about]
    parts.append(links(files))
    parts.append(notes(grounding_notes(grounded), warn=False))
    if videos:
        shown = [Film(file, name) for name, file in videos.items()]
        parts.append(films(shown, clip_fps=fps, charts=True))
    parts.append(scene)
    parts += [wide_image(file, caption) for caption, file in images.items()]
    parts.append(
        strip(
            cuboid_frames(grounded.character.body, grounded.tracking),
            "Filled: the simulated body. Outlined: the clip as given. Red: ground forces, clipped "
            "at twice the body weight. Marks on the ground are half a body height apart.",
        )
    )
    parts += ["<h2>Before and after</h2>", _metrics(grounded)]
    for heading, charts in (
        ("Contact", contact_charts(grounded)),
        ("Joint torques", torque_charts(grounded)),
        ("Optimisation", search_charts(grounded)),
    ):
        parts.append(section(heading, charts))
    scripts = film_scripts(scene) if videos else ()
    write_text(path, page(title, "\n".join(filter(None, parts)), scripts=scripts))


def _outcome(
    grounded: Grounded, title: str, metrics: Mapping[str, MotionMetrics], kept: str | None
) -> str:
    """Which clip to use, and what was measured."""
    before, after = metrics["clip"], metrics["grounded"]
    lines = [_summary(grounded), f"The clip as it was has a score of {before.score:.2f}."]
    if kept is None:
        headline = f"Use the clip “{title}”"
    else:
        headline = f"Use the clip as it was, not “{title}”"
        lines.insert(0, f"{kept[:1].upper()}{kept[1:]}.")
    return outcome(
        headline, lines, score=after.score, fails=after.fails, good=kept is None,
    )  # fmt: skip


def _summary(grounded: Grounded) -> str:
    """The result in plain words."""
    before, after = grounded.before, grounded.after
    return (
        f"Feet on the ground slide at {after.skate:.3f} body heights a second ({before.skate:.3f} "
        f"in the clip), and the body is at most {after.deepest:.1%} of its height below the ground "
        f"({before.deepest:.1%}). On average its parts are {grounded.tracking.error:.1%} of the "
        "height away from the clip."
    )


def grounding_notes(grounded: Grounded) -> list[str]:
    """How the clip was taken: what was added, left out, or not simulated."""
    lines = []
    if grounded.tracking.retries and not grounded.tracking.failed:
        lines.append(f"The simulation diverged {grounded.tracking.retries} times at longer steps.")
    if grounded.travel is not None:
        speed = float(grounded.travel.norm())
        lines.append(f"The clip walks in place: it was given {speed:.2f} m/s, as its feet imply.")
    if grounded.cycle_gap is not None:
        lines.append(
            "The clip is a cycle: one and a half repetitions were simulated and blended. They are "
            f"{grounded.cycle_gap:.2%} of the height apart."
        )
    if grounded.first_left_out:
        lines.append(
            "The clip's first frame is a calibration pose, such as a T-pose, and was left out."
        )
    if grounded.character.welded:
        lines.append(
            "Too light to be simulated, so that they move as in the clip: "
            f"{', '.join(grounded.character.welded)}."
        )
    return lines


def _metrics(grounded: Grounded) -> str:
    b, a, tracking = grounded.before, grounded.after, grounded.tracking
    share = float(tracking.forces.assist_work / tracking.forces.joint_work.clamp_min(1e-12))
    values = [
        ("skate, body heights per second", f"{b.skate:.3f}", f"{a.skate:.3f}"),
        ("time with a foot on the ground", f"{b.contact:.0%}", f"{a.contact:.0%}"),
        ("mean penetration, of height", f"{b.penetration:.2%}", f"{a.penetration:.2%}"),
        ("deepest penetration, of height", f"{b.deepest:.2%}", f"{a.deepest:.2%}"),
        ("mean clearance of the lowest foot, of height", f"{b.float_:.2%}", f"{a.float_:.2%}"),
        ("tracking error, of height", "", f"{tracking.error:.2%}"),
        ("joint work", "", f"{float(tracking.forces.joint_work):,.0f} J"),
        ("root assist work, of joint work", "", f"{share:.1%}"),
    ]
    rows = [Row(name, (before, after)) for name, before, after in values]
    return table(("clip", "grounded"), {"": rows})
