"""Charts are read back from their SVG text: what is drawn is where the numbers say."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from akd.report.plots import (
    BOTTOM,
    LEFT,
    MOST_POINTS,
    PLOT_HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    contact_chart,
    line_chart,
)

SVG = "{http://www.w3.org/2000/svg}"


def read(text: str) -> ET.Element:
    return ET.fromstring(text)


def words(svg: ET.Element) -> list[str]:
    return [t.text or "" for kind in ("text", "tspan") for t in svg.iter(f"{SVG}{kind}")]


def points(line: ET.Element) -> np.ndarray:
    return np.array([[float(v) for v in p.split(",")] for p in line.get("points", "").split()])


def test_curves_stand_where_their_values_say() -> None:
    x = [0.0, 1.0, 2.0]
    svg = read(line_chart({"a": [0.0, 5.0, 10.0]}, x=x, title="T", unit="N m"))
    (line,) = svg.iter(f"{SVG}polyline")
    drawn = points(line)
    # The axis runs from 0 to 10, so the curve is the diagonal of the plot.
    expected = [
        [LEFT, TOP + PLOT_HEIGHT],
        [(LEFT + WIDTH - RIGHT) / 2, TOP + PLOT_HEIGHT / 2],
        [WIDTH - RIGHT, TOP],
    ]
    np.testing.assert_allclose(drawn, expected, atol=0.06)
    labels = words(svg)
    assert {"T", "N m", "a", "seconds", "0", "2", "4", "6", "8", "10", "1.0"} <= set(labels)


def test_ticks_stand_at_their_numbers() -> None:
    svg = read(line_chart({"a": [-0.3, 0.17]}, x=[0, 1], title="", unit=""))
    drawn = {
        t.text: float(t.get("y", "")) - 4 for t in svg.iter(f"{SVG}text")
        if t.get("text-anchor") == "end"
    }  # fmt: skip
    assert list(drawn) == ["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2"]
    gaps = np.diff(list(drawn.values()))
    np.testing.assert_allclose(gaps, -PLOT_HEIGHT / 5, atol=0.11)


def test_gaps_cut_a_curve() -> None:
    values = [0.0, 1.0, math.nan, 1.0, 0.0, math.inf, 2.0]
    svg = read(line_chart({"a": values}, x=range(7), title="", unit=""))
    assert [len(points(line)) for line in svg.iter(f"{SVG}polyline")] == [2, 2]
    assert len(list(svg.iter(f"{SVG}circle"))) == 1


def test_long_curves_keep_their_peaks() -> None:
    values = np.zeros(20_000)
    values[12_345] = 7.0
    svg = read(line_chart({"a": values}, x=np.arange(20_000) / 500, title="", unit=""))
    (line,) = svg.iter(f"{SVG}polyline")
    drawn = points(line)
    assert len(drawn) <= MOST_POINTS
    peak = drawn[drawn[:, 1].argmin()]
    where = LEFT + (WIDTH - RIGHT - LEFT) * 12_345 / 19_999
    assert peak[0] == pytest.approx(where, abs=0.1)


@pytest.mark.parametrize("values", [[3.0, 3.0], [0.0, 0.0], [-1e-9, 1e9], [math.nan, math.nan]])
def test_every_range_gives_a_drawing(values: list[float]) -> None:
    svg = read(line_chart({"a": values}, x=[0.0, 0.5], title="", unit=""))
    assert len(words(svg)) > 4
    for line in svg.iter(f"{SVG}polyline"):
        drawn = points(line)
        assert np.isfinite(drawn).all()
        assert (drawn[:, 1] >= TOP - 0.1).all()
        assert (drawn[:, 1] <= TOP + PLOT_HEIGHT + 0.1).all()


def test_many_names_wrap_and_stay_apart() -> None:
    names = [f"left hind lower {i}" for i in range(30)]
    svg = read(line_chart({n: [0, i] for i, n in enumerate(names)}, x=[0, 1], title="", unit=""))
    drawn = [t for t in svg.iter(f"{SVG}text") if t.text in names]
    assert len(drawn) == 30
    assert all(float(t.get("x", "")) + 6 * len(t.text or "") < WIDTH for t in drawn)
    places = {(t.get("x"), t.get("y")) for t in drawn}
    assert len(places) == 30
    height = float(svg.get("viewBox", "").split()[3])
    assert max(float(t.get("y", "")) for t in drawn) < height
    strokes = {(g.get("stroke"), g.get("stroke-dasharray")) for g in svg.iter(f"{SVG}g")}
    assert len(strokes) == 30


def test_bars_cover_what_is_true() -> None:
    x = np.arange(10) / 10
    touching = [True, True, False, False, True, False, False, False, True, True]
    svg = read(contact_chart({"foot": touching, "hand": [False] * 10}, x=x, title="C"))
    groups = list(svg.iter(f"{SVG}g"))
    assert [len(list(g.iter(f"{SVG}rect"))) for g in groups] == [3, 0]
    bars = [
        (float(r.get("x", "")), float(r.get("width", ""))) for r in groups[0].iter(f"{SVG}rect")
    ]
    tenth = (WIDTH - RIGHT - LEFT) / 10
    np.testing.assert_allclose(
        bars, [[LEFT, 2 * tenth], [LEFT + 4 * tenth, tenth], [LEFT + 8 * tenth, 2 * tenth]],
        atol=0.11,
    )  # fmt: skip
    assert "foot: 50 % of the time" in "".join(svg.itertext())
    assert float(svg.get("viewBox", "").split()[3]) > TOP + BOTTOM


def test_names_are_text_and_never_markup() -> None:
    name = '</text><script>"&'
    for text in (
        line_chart({name: [0, 1]}, x=[0, 1], title=name, unit=name),
        contact_chart({name: [True, False]}, x=[0, 1], title=name),
    ):
        svg = read(text)
        assert words(svg).count(name) >= 2
        assert svg.get("aria-label") == name
        assert "<script" not in text


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"series 'a' must have one value for each of x, got \(2,\)"
    ):
        line_chart({"a": [0, 1]}, x=[0, 1, 2], title="", unit="")
    with pytest.raises(ValueError, match=r"contacts 'a' must have one value for each of x"):
        contact_chart({"a": [True]}, x=[0, 1], title="")
    with pytest.raises(ValueError, match="x must be finite and ascending"):
        line_chart({}, x=[0, 0], title="", unit="")
    with pytest.raises(ValueError, match="x must be a list of at least one number"):
        contact_chart({}, x=[], title="")
