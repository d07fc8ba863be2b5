"""The viewer in a real browser: load, play, scrub, switch, drag, keep, save, run, stop, leave."""

import shutil
import time
from functools import partial

import numpy as np
import pytest

from akd.api.loading import load
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip
from tests.browser import open_chromium
from tests.commands.small_prior import QUICK, write_weights

# What a loaded machine delays is tried again on a new page; a wrong result is not.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.flaky(reruns=2, only_rerun=["too late", "nothing happened", "TimeoutError"]),
]
pytest.importorskip("viser")
GL = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PROMPT = "input.mantine-TextInput-input:visible"
LONG = 60_000
"""Milliseconds that a page may take on a busy machine."""


@pytest.fixture(scope="module")
def browser():
    with open_chromium(*GL) as made:
        yield made


@pytest.fixture(scope="module")
def fox_file(tmp_path_factory):
    """A fox of the zoo with two clips."""
    fox = build_creature("fox", vertices=600)
    path = tmp_path_factory.mktemp("fox") / "fox.glb"
    write_creature(fox, [make_clip(fox, a, cycles=1) for a in ("walk", "trot")], path)
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def iterations() -> int:
    """Of a run: it would take hours."""
    return 100_000


@pytest.fixture
def viewer(tmp_path, fox_file, weights, iterations):
    """A folder that holds the fox alone."""
    from akd.pipeline import animate
    from akd.presets import find_preset, with_values
    from akd.view.server import Viewer

    shutil.copy(fox_file, tmp_path)
    settings = with_values(find_preset("tiny"), (*QUICK[1:], f"iterations={iterations}"))
    make = partial(animate, preset=settings, physics=False, weights=weights, device="cpu")
    with Viewer(tmp_path, port=0, make=make) as made:
        yield made


def enter(browser, viewer):
    """A page and its session, once its controls are there."""
    before = set(viewer.sessions)
    page = browser.new_page(viewport={"width": 700, "height": 420})
    page.set_default_timeout(LONG)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(viewer.address)
    page.get_by_text("Compare with").wait_for()
    until(lambda: set(viewer.sessions) - before)
    (session,) = set(viewer.sessions) - before
    session.client.scene.configure_default_lights(cast_shadow=False)  # slow in software
    # It warns of software rendering, over the scene.
    page.locator(".mantine-Notification-closeButton").first.dispatch_event("click")
    return page, session, errors


def until(true, seconds: float = 60.0):
    ends = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < ends, "too late"
        time.sleep(0.05)
    return found


def insist(act, true, tries: int = 6):
    """Act again where a busy browser lost a click."""
    for _ in range(tries):
        act()
        ends = time.monotonic() + 15.0
        while time.monotonic() < ends:
            if found := true():
                return found
            time.sleep(0.05)
    raise AssertionError("nothing happened")


@pytest.fixture
def opened(browser, viewer):
    page, session, errors = enter(browser, viewer)
    yield page, session
    page.close()
    assert errors == []


def tab(page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def pixel(page, session, point) -> tuple[float, float]:
    """Where a point of the world is on the page."""
    from viser.transforms import SO3

    camera = session.client.camera
    seen = SO3(camera.wxyz).inverse() @ (np.asarray(point) - camera.position)
    box = page.locator("canvas").first.bounding_box()
    scale = 0.5 * box["height"] / np.tan(0.5 * camera.fov) / seen[2]
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    return float(x + scale * seen[0]), float(y + scale * seen[1])


def drag_up(page, session) -> float:
    """Pull the handle's upward arrow; how far its joint rose, in heights of the character."""
    editor, token = session.pose.editor, session.pose._token  # a click that missed chose another
    place, height = editor.places()[token], session.subject.character.height
    up = height * np.array((0.0, 1.0, 0.0))
    camera = session.client.camera  # a drag that missed turned it
    camera.look_at, camera.position = place, place + 2.5 * height * np.array((0.5, 0.2, 1.0))
    page.wait_for_timeout(1000)
    arrow = place + 0.18 * up
    page.mouse.move(*pixel(page, session, arrow))
    page.wait_for_timeout(300)
    page.mouse.down()
    page.wait_for_timeout(300)
    for part in (0.05, 0.1, 0.15):
        page.mouse.move(*pixel(page, session, arrow + part * up), steps=2)
        page.wait_for_timeout(200)
    page.mouse.up()
    page.wait_for_timeout(1000)
    return float(editor.places()[token, 1] - place[1]) / height


def test_it_plays_and_scrubs_and_switches_clips(opened):
    page, session = opened
    assert session.clip == "walk"
    line = session.timeline

    def press(name: str) -> None:
        button = page.get_by_role("button", name=name)
        if button.count():  # it has another name once it was pressed
            button.click()

    insist(lambda: press("Play"), lambda: line.is_playing and line.seconds > 0.05)
    insist(lambda: press("Pause"), lambda: not line.is_playing)

    def scrub(*keys: str) -> None:
        page.get_by_role("slider").first.focus()
        for key in keys:
            page.keyboard.press(key)

    frames = session.actors[0].frames

    def shows(wanted: int) -> bool:
        return frames.frame(line.seconds) == wanted

    for keys, wanted in ((("Home", "ArrowRight"), 1), (("End", "ArrowLeft"), len(frames) - 2)):
        insist(partial(scrub, *keys), partial(shows, wanted))

    def switch() -> None:
        page.locator("input[value=walk]").first.click()
        page.get_by_role("option", name="trot").first.click()

    insist(switch, lambda: session.clip == "trot")
    until(lambda: [actor.frames.motion.name for actor in session.actors] == ["trot"])


def test_a_handle_is_dragged_and_a_clip_saved(opened, viewer):
    page, session = opened
    tab(page, "Pose")
    page.get_by_role("checkbox", name="Pose mode").click()
    editor = until(lambda: session.pose.editor)
    until(lambda: session.pose._gizmo)
    assert editor.space is not None  # the weights are part of the package
    page.get_by_text("the body follows within the space of plausible poses").wait_for()
    page.get_by_role("button", name="Keep keyframe").click()
    until(lambda: len(editor.keyframes) == 1)
    # The handle can be grabbed once it is drawn, which takes its time.
    risen = next((r for _ in range(12) if (r := drag_up(page, session)) > 0.03), 0.0)
    assert risen > 0.03
    page.get_by_role("button", name="Keep keyframe").click()
    until(lambda: len(editor.keyframes) == 2)
    play = page.get_by_role("button", name="Play the keyframes")
    play.click()
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    play.wait_for()
    page.get_by_role("button", name="Save as a clip").click()
    path = viewer.content.root / "fox-poses.glb"
    until(path.exists)
    saved = load(path)
    assert [clip.name for clip in saved.asset.clips] == ["walk", "trot", "my clip"]
    until(lambda: session.subject.name == "fox-poses.glb")
    until(lambda: session.clip == "my clip")
    # Pose mode goes on with the keyframes that were saved.
    insist(
        lambda: page.get_by_role("checkbox", name="Pose mode").click(),
        lambda: session.pose.is_posing,
    )
    assert session.pose.editor is not editor
    assert session.pose.editor.keyframes == editor.keyframes
    until(lambda: session.pose._kept.options == ("0 s", "0.5 s"))


def test_in_pose_mode_the_clip_is_a_ghost_in_its_place(opened):
    page, session = opened
    tab(page, "Pose")
    assert page.get_by_role("button", name="Keep keyframe").is_disabled()
    page.get_by_role("checkbox", name="Pose mode").click()
    until(lambda: session.pose.is_posing and session.pose._gizmo)
    until(lambda: page.get_by_role("button", name="Keep keyframe").is_enabled())
    (ghost,) = session.actors
    assert not session.pose.shows_reference
    session._step(12)
    until(lambda: ghost._made.get("surface") and ghost._made["surface"][0].visible)
    root = ghost.frames.looks.character.control_rig.root
    for frame in (0, 12):
        place = ghost.frames.joints(frame)[root] + ghost.place(frame)
        assert place[[0, 2]] == pytest.approx(session.pose.root[[0, 2]], abs=1e-5)
    # Views from all sides are of the body in its place.
    session.look("front")
    target = session.client.camera.look_at
    size = session.subject.character.height
    assert np.linalg.norm((target - session.pose.root)[[0, 2]]) < 0.6 * size


def test_a_run_is_watched_and_stopped(opened, viewer):
    page, session = opened
    tab(page, "Run")
    page.locator(PROMPT).first.fill("a fox walking")
    page.keyboard.press("Tab")
    until(lambda: session.run._prompt.value == "a fox walking")
    page.get_by_role("button", name="Start").click()
    job = until(lambda: session.run.job)
    until(lambda: job.error or (job.watcher.phase == "distil" and job.watcher.versions))
    assert job.error is None
    page.locator("img").first.wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped; the same prompt").wait_for()
    assert not job.is_running
    (folder,) = (viewer.content.root / "runs").iterdir()
    assert (folder / "run" / "distil.safetensors").exists()


@pytest.mark.parametrize("iterations", [2])
def test_seeds_are_finished_shown_side_by_side_and_exported(opened, viewer):
    page, session = opened
    tab(page, "Run")
    page.locator(PROMPT).first.fill("a fox walking")
    page.keyboard.press("Tab")
    page.get_by_label("How many seeds").fill("2")
    page.keyboard.press("Tab")
    until(lambda: session.run._prompt.value and session.run._seeds.value == 2)
    page.get_by_role("button", name="Start").click()
    job = until(lambda: session.run.job)
    until(lambda: not job.is_running, 300.0)
    assert job.error is None
    names = ["runs/fox-a-fox-walking-0", "runs/fox-a-fox-walking-1"]
    until(lambda: sorted(s.name for s, _ in session._shown) == names)
    first, second = until(lambda: len(session.actors) == 2 and session.actors)
    assert np.linalg.norm(second.offset - first.offset) > session.subject.character.height
    assert first.frames.motion.name == second.frames.motion.name
    with page.expect_download(timeout=LONG) as download:
        page.get_by_role("button", name="Export the clip shown").click()
    (path,) = (viewer.content.root / "export").iterdir()
    assert download.value.suggested_filename == path.name
    (clip,) = load(path).asset.clips
    assert clip.end == pytest.approx(first.frames.seconds, abs=0.1)


def test_two_browsers_do_not_disturb_each_other_and_leave_nothing(browser, viewer, opened):
    _, first = opened
    page, second, errors = enter(browser, viewer)
    clip, seconds = first.clip, first.timeline.seconds
    second.timeline.seek(0.2)
    tab(page, "Run")
    page.locator(PROMPT).first.fill("a fox running")
    page.keyboard.press("Tab")
    until(lambda: second.run._prompt.value == "a fox running")
    page.get_by_role("button", name="Start").click()
    job = until(lambda: second.run.job)
    assert (first.clip, first.timeline.seconds) == (clip, seconds)
    assert first.run._prompt.value != "a fox running"
    page.close()
    until(lambda: second not in viewer.sessions)
    until(lambda: not job.is_running)
    until(lambda: not second.timeline._thread.is_alive())
    assert errors == []
