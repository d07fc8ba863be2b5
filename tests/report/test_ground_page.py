"""The page of a grounded clip: it stands on its own and shows the numbers that were measured."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from akd.asset.read import read_asset
from akd.metrics.motion_metrics import MotionMetrics
from akd.motion.clip import motion_from_clip
from akd.physics.ground import Grounded, ground
from akd.physics.settings import TrackingSettings
from akd.report.cuboids import cuboid_frames
from akd.report.ground_page import write_ground_page
from akd.report.physics_charts import contact_charts, torque_charts
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig

GOOD = MotionMetrics(
    duration=1.0, travel=3.0, speed=1.0, foot_travel=0.6, contact=(0.6, 0.6), skate=(0.1, 0.1),
    penetration=0.0, float_=0.0, alternation=(-0.9,), tilt=2.0, roughness=0.3, loop_gap=0.0,
    limb_stretch=0.0, shape_change=0.0, pace=0.4,
)  # fmt: skip
METRICS = {"clip": GOOD, "grounded": GOOD}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def grounded(shared_assets: Path) -> Grounded:
    asset = read_asset(shared_assets / "khronos" / "Fox" / "glTF-Binary" / "Fox.glb")
    character = load_character(asset)
    motion = motion_from_clip(character, next(c for c in asset.clips if c.name == "Walk"))
    rig = build_control_rig(character)
    return ground(rig, character.mesh, motion, settings=TrackingSettings(iterations=2))


class Links(HTMLParser):
    """Everything a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.mark.slow
def test_page_stands_on_its_own(grounded: Grounded, tmp_path: Path) -> None:
    picture = tmp_path / "frames.png"
    Image.fromarray(np.zeros((4, 4, 3), dtype=np.uint8)).save(picture)
    path = tmp_path / "report.html"
    write_ground_page(
        path, grounded, title="Walk <b>", about=("a fox & more",), videos={}, scene="",
        images={"six": picture}, files={"motion.glb": "the file"}, fps=30.0,
        metrics=METRICS, kept_clip=None,
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    icon, motion, picture_link = links.found
    assert motion == "motion.glb"
    assert icon == "data:,"
    assert picture_link.startswith("data:image/png;base64,")
    assert "script" not in links.tags
    assert "Walk &lt;b&gt;" in text
    assert "a fox &amp; more" in text
    before, after = grounded.before, grounded.after
    row = f"<td>{before.skate:.3f}</td><td>{after.skate:.3f}</td>"
    assert row in text
    assert f"<td>{grounded.tracking.error:.2%}</td>" in text
    assert "The clip walks in place: it was given" in text
    assert '<ul class="notes">' in text
    assert '<div class="outcome good">' in text
    assert "Use the clip “Walk &lt;b&gt;”" in text
    assert "The clip as it was has a score of 0." in text
    write_ground_page(
        path, grounded, title="Walk", about=(), videos={}, scene="", images={}, files={},
        fps=30.0, metrics=METRICS, kept_clip="the simulation diverged",
    )  # fmt: skip
    worse = path.read_text("utf-8")
    assert '<div class="outcome bad">' in worse
    assert "Use the clip as it was, not “Walk”" in worse
    assert "<p>The simulation diverged.</p>" in worse
    assert f"Feet on the ground slide at {after.skate:.3f} body heights a second" in text
    for part in ("left fore foot", "right hind foot"):
        assert part in text
    assert not list(tmp_path.glob("*.tmp*"))


@pytest.mark.slow
def test_charts_hold_what_acted(grounded: Grounded) -> None:
    torques = torque_charts(grounded)
    titles = [ET.fromstring(chart).get("aria-label") for chart in torques]
    assert "torque: left hind" in titles
    curves = sum(len(list(ET.fromstring(c).iter(f"{SVG}polyline"))) for c in torques)
    assert curves == len(grounded.character.body) - 1
    charts = [ET.fromstring(chart) for chart in contact_charts(grounded)]
    bars = next(c for c in charts if c.get("aria-label") == "planned stance")
    words = "".join(bars.itertext())
    shares = grounded.stance_shares()
    assert len(shares) == 4
    for name, share in shares.items():
        assert f"{name}: {100 * share:.0f} % of the time" in words


@pytest.mark.slow
def test_frames_show_every_part_and_force(grounded: Grounded) -> None:
    body, tracking = grounded.character.body, grounded.tracking
    picture = ET.fromstring(cuboid_frames(body, tracking, count=5, columns=2))
    panels = picture.findall(f"{SVG}svg")
    assert len(panels) == 5
    filled = [p for p in panels[0].iter(f"{SVG}path") if p.get("fill", "").startswith("#")]
    # Of a cuboid seen from no special side, three faces are seen.
    assert len(filled) == 3 * len(body)
    width, height = (float(v) for v in picture.get("viewBox", "").split()[2:])
    assert width == 2 * 250
    for panel in panels:
        for path in (p for p in panel.iter(f"{SVG}path") if p.get("fill", "").startswith("#")):
            numbers = np.array(re.findall(r"-?\d+\.\d", path.get("d", "")), dtype=float)
            assert numbers[0::2].min() >= 0
            assert numbers[0::2].max() <= 250
            assert numbers[1::2].min() >= 0
            assert numbers[1::2].max() <= height / 3 + 0.1
    arrows = [p for p in picture.iter(f"{SVG}path") if p.get("marker-end")]
    assert arrows
