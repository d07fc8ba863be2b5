"""Pages in a real browser: they fetch nothing, say nothing, fit a phone, and their keys work."""

import io
import json
from threading import Thread

import numpy as np
import pytest
import torch
from PIL import Image

from akd.base.files import write_text
from akd.commands.blind_server import BlindServer
from akd.report.blind import QUESTIONS, Pair, blind_page, read_votes
from akd.report.page import Film, Row, badge, films, header, page, section, table
from akd.report.plots import contact_chart, line_chart
from akd.scene.video import Video
from tests.browser import open_chromium

TIMES = "[...document.querySelectorAll('video')].map(v => v.currentTime)"
DURATIONS = "[...document.querySelectorAll('video')].map(v => v.duration)"


@pytest.fixture(scope="module")
def browser():
    with open_chromium() as made:
        yield made


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """One of 12 frames, and one of 24, at 24 frames a second."""
    folder = tmp_path_factory.mktemp("videos")
    for name, count in (("short", 12), ("long", 24)):
        grey = torch.linspace(0, 1, count)[:, None, None, None].expand(count, 36, 64, 3)
        Video(grey.contiguous(), 24.0).write_mp4(folder / f"{name}.mp4")
    return folder


@pytest.fixture
def opened(browser):
    """Opens a page and sees that it fetches nothing but itself and has no complaints."""
    contexts, said, fetched = [], [], []

    def visit(address: str, **options):
        context = browser.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.on("request", lambda request: fetched.append(request.url))
        shown.goto(address)
        shown.wait_for_selector(".transport:visible")
        return shown

    yield visit
    for context in contexts:
        context.close()
    assert said == []
    own = [url for url in fetched if not url.startswith(("data:", "blob:", "file:", "http://127."))]
    assert own == []


@pytest.fixture(scope="module")
def report(videos, tmp_path_factory):
    """A page with all that pages are made of."""
    seconds = [i / 24 for i in range(24)]
    charts = [
        line_chart({"knee": seconds}, x=seconds, title="angle", unit="degrees"),
        contact_chart({"left foot": [True] * 24}, x=seconds, title="feet"),
    ]
    shown = [
        Film(videos / "short.mp4", "motion", "slides", badge("sliding", good=False)),
        Film(videos / "long.mp4", "grounded", "goes", badge("moves", good=True)),
    ]
    rows = {"feet": [Row("skate, of body speed", ("135 %", "7 %"), ("bad", "good"), "at most 20")]}
    body = header("a fox walking", above="akd", facts={"asset": "fox.glb"})
    body += films(shown, charts=True) + table(("motion", "grounded"), rows, wanted=True)
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_text(path, page("fox", body + section("Feet", charts), scripts=("films.js",)))
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_a_phone(opened, report, scheme):
    shown = opened(report, viewport={"width": 390, "height": 800}, color_scheme=scheme)
    assert shown.evaluate("document.documentElement.scrollWidth") == 390
    ink = shown.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    back = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    level = {c: sum(map(int, c[4:-1].split(","))) for c in (ink, back)}
    assert (level[ink] > level[back]) == (scheme == "dark")


def test_videos_step_together_and_the_shorter_one_holds_its_last_frame(opened, report):
    shown = opened(report)
    assert shown.evaluate(TIMES) == [0, 0]
    for _ in range(5):
        shown.keyboard.press("ArrowRight")
    assert shown.evaluate(TIMES) == pytest.approx([5 / 24, 5 / 24], abs=1e-3)
    shown.locator("input[type=range]").fill("0.9")
    assert shown.evaluate(TIMES) == pytest.approx([11.5 / 24, 0.9], abs=1e-3)
    assert shown.inner_text(".transport output") == "0.90 s · frame 22 of 24"


def test_frames_of_the_clip_are_counted_at_its_own_rate(opened, videos, tmp_path):
    path = tmp_path / "report.html"
    shown = films([Film(videos / "long.mp4", "grounded")], clip_fps=30.0)
    write_text(path, page("fox", shown, scripts=("films.js",)))
    shown = opened(path.as_uri())
    assert shown.inner_text(".transport output") == "0.00 s · clip frame 0"
    shown.locator("input[type=range]").fill("0.9")  # the 22nd of 24 frames, shown from 0.875 s on
    assert shown.inner_text(".transport output") == "0.90 s · clip frame 26"


def test_space_plays_and_a_chart_moves_the_videos(opened, report):
    shown = opened(report)
    shown.keyboard.press("Space")
    shown.wait_for_function("document.querySelectorAll('video')[1].currentTime > 0.1")
    shown.keyboard.press("Space")
    assert shown.evaluate("[...document.querySelectorAll('video')].every(v => v.paused)")
    chart = shown.locator("svg[data-axis]").first
    left, right = (float(v) for v in chart.get_attribute("data-axis").split()[2:4])
    width = float(chart.get_attribute("viewBox").split()[2])
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    middle = box["width"] * (left + right) / 2 / width
    shown.mouse.click(box["x"] + middle, box["y"] + 60)
    assert shown.evaluate(TIMES)[1] == pytest.approx(23 / 24 / 2, abs=0.01)
    at = float(shown.locator("svg[data-axis] line.now").first.get_attribute("x1"))
    assert at == pytest.approx((left + right) / 2, abs=1.0)


PAIRS = [Pair("walk", "short", "long"), Pair("run", "long", "short")]


def test_a_study_is_answered_by_keys_and_votes_are_saved(opened, videos, tmp_path):
    text = blind_page(PAIRS, {n: videos / f"{n}.mp4" for n in ("short", "long")})
    with BlindServer(text, PAIRS, tmp_path / "votes.jsonl") as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            shown = opened(server.address)
            assert shown.locator(".pair:visible").count() == 1
            shown.fill("input[name=person]", "Ada L.")
            shown.locator("h1").click()
            for key in ("a", "b", "b", "Backspace", "a", "Enter"):
                shown.keyboard.press(key)
            assert "2 of 2" in shown.inner_text(".pair:visible legend")
            shown.reload()  # nothing is lost
            shown.get_by_text("Next").click()
            for key in ("b", "b", "b"):
                shown.keyboard.press(key)
            shown.keyboard.press("Enter")
            shown.get_by_text("Your choices are saved.").wait_for()
        finally:
            server.shutdown()
            thread.join()
    votes = read_votes(tmp_path / "votes.jsonl")
    assert [v.chosen for v in votes] == ["a", "b", "a", "b", "b", "b"]
    assert {v.person for v in votes} == {"Ada L."}


@pytest.mark.slow
def test_a_study_opened_from_the_disk_hands_the_votes_over_as_a_file(opened, videos, tmp_path):
    path = tmp_path / "blind.html"
    write_text(path, blind_page(PAIRS[:1], {n: videos / f"{n}.mp4" for n in ("short", "long")}))
    shown = opened(path.as_uri(), accept_downloads=True)
    shown.fill("input[name=person]", " Ada  L. ")
    for label in shown.locator(".choices label:first-child").all():
        label.click()
    with shown.expect_download() as found:
        shown.get_by_text("Send").click()
    found.value.save_as(tmp_path / "votes.jsonl")
    lines = (tmp_path / "votes.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"person": "Ada L.", "pair": 0, "question": question, "chosen": "a"}
        for question in QUESTIONS
    ]


@pytest.mark.slow
def test_pages_work_without_scripts(browser, videos, tmp_path):
    path = tmp_path / "blind.html"
    write_text(path, blind_page(PAIRS, {n: videos / f"{n}.mp4" for n in ("short", "long")}))
    context = browser.new_context(java_script_enabled=False)
    shown = context.new_page()
    shown.goto(path.as_uri())
    assert shown.locator("video[controls]").count() == 4
    assert shown.locator(".question:visible").count() == 6
    assert shown.locator("button[type=submit]:visible").count() == 1
    context.close()


@pytest.mark.slow
def test_a_3d_view_shows_the_clip_and_follows_the_videos(browser, videos, fox, tmp_path):
    from dataclasses import replace

    from akd.motion.motion import Motion
    from akd.report.scene3d import scene3d

    pose = fox.control_rig.neutral.expand(12)
    away = pose.translation + torch.linspace(0, 1, 12)[:, None, None]
    motion = Motion(fox.skeleton, torch.arange(12) / 24, replace(pose, translation=away))
    shown = films([Film(videos / "short.mp4", "motion")], charts=True)
    scene = scene3d(fox, {"a </script>": motion, "b": motion}, shown="a </script>")
    text = page("fox", shown + scene, scripts=("scene3d.js", "films.js"))
    write_text(tmp_path / "page.html", text)
    said = []
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 500, "height": 700})
    opened = context.new_page()
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto((tmp_path / "page.html").as_uri())
    opened.wait_for_selector(".transport:visible")
    canvas = opened.locator(".scene3d canvas")
    assert opened.locator(".scene3d option").first.inner_text() == "a </script>"
    assert opened.locator(".scene3d select").first.input_value() == "0"
    opened.wait_for_timeout(300)
    first = canvas.screenshot()
    opened.locator("input[type=range]").fill("0.4")
    opened.wait_for_timeout(300)
    assert canvas.screenshot() != first
    context.close()
    assert [text for text in said if "GPU stall" not in text] == []


@pytest.mark.slow
def test_the_page_of_a_grounded_clip_has_a_3d_view(browser, tmp_path):
    from akd.api.grounding import ground
    from akd.export.creature import write_creature
    from akd.physics.settings import TrackingSettings
    from akd.zoo import build_creature, make_clip

    fox = build_creature("fox", vertices=600)
    write_creature(fox, [make_clip(fox, "walk", cycles=1)], tmp_path / "fox.glb")
    made = ground(tmp_path / "fox.glb", settings=TrackingSettings(iterations=1))
    written = made.save(tmp_path / "out")
    assert {"clip.mp4", "grounded.mp4", "report.html"} <= {path.name for path in written}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in written}
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 900, "height": 700})
    opened = context.new_page()
    fetched = []
    opened.on("request", lambda request: fetched.append(request.url))
    opened.goto((tmp_path / "out" / "report.html").as_uri())
    opened.wait_for_selector(".transport:visible")
    assert opened.locator(".scene3d option").all_inner_texts() == [
        "clip", "grounded", "no ghost", "ghost: clip", "ghost: grounded",
    ]  # fmt: skip
    seconds = opened.evaluate(f"Math.max(...{DURATIONS})")
    assert seconds == pytest.approx(float(made.motion.times[-1]), abs=0.1)
    canvas = opened.locator(".scene3d canvas")
    first = body_pixels(canvas)
    assert 0.02 < first.mean() < 0.5
    opened.locator("input[type=range]").fill(str(seconds / 2))
    opened.wait_for_timeout(300)
    assert (body_pixels(canvas) != first).mean() > 0.005
    context.close()
    assert [url for url in fetched if not url.startswith(("data:", "blob:", "file:"))] == []


def body_pixels(canvas):
    """Pixels of a 3D view whose colour is neither the page's nor the ground's, which are grey."""
    canvas.scroll_into_view_if_needed()
    canvas.page.wait_for_timeout(300)
    pixels = np.asarray(Image.open(io.BytesIO(canvas.screenshot())).convert("RGB")).astype(int)
    return pixels.max(-1) - pixels.min(-1) > 24
