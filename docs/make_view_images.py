"""Takes the screenshots of docs/view.md: the viewer in Chromium with a fox of the zoo.

    python docs/make_view_images.py [view_clip] [view_pose] [view_run]

By default it takes all three. Needs akd[view], Playwright and Chromium. The run that is shown is
stopped after a while.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from akd.export.creature import write_creature
from akd.view.server import Viewer
from akd.view.session import Session
from akd.zoo import build_creature, make_clip

IMAGES = Path(__file__).resolve().parent / "images"
ACTIONS = ("walk", "trot", "sit_down")
GL = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def until(true: Callable[[], Any], seconds: float = 300.0) -> Any:
    """Wait, and return what was waited for."""
    ends = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > ends:
            raise TimeoutError("the page did not get there")
        time.sleep(0.05)
    return found


def shoot(page: Any, name: str) -> None:
    """Write a screenshot once the picture stands still."""
    page.wait_for_timeout(3000)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.save(IMAGES / f"{name}.jpg", quality=88)
    print(IMAGES / f"{name}.jpg", flush=True)


def tab(page: Any, name: str) -> None:
    """Open a tab of the panel."""
    page.get_by_role("tab", name=name).click()


def compare(page: Any, session: Session) -> None:
    """A walk with a trot as its ghost, and when feet stand."""
    session._compare.value = "trot"
    session.stage()
    session.timeline.seek(0.3)
    session._time.value = 9
    tab(page, "Curves")
    shoot(page, "view_clip")


def pose(page: Any, session: Session) -> None:
    """A fore foot lifted in pose mode, within the space of poses."""
    session._compare.value = "nothing"
    session.stage()
    tab(page, "Pose")
    page.get_by_role("checkbox", name="Pose mode").click()
    editor = until(lambda: session.pose.editor)
    until(lambda: session.pose._gizmo)
    token = next(i for i, name in enumerate(session.pose._labels) if "left fore foot" in name)
    session.pose._choose(token)
    place = editor.places()[token] + session.subject.character.height * np.array((0.0, 0.4, 0.3))
    editor.drag(token, place, pinned=[], stand=True)
    session.pose._show(handle=True)
    shoot(page, "view_pose")
    page.get_by_role("checkbox", name="Pose mode").click()


def run(page: Any, session: Session) -> None:
    """A motion while it is being distilled; then the run is stopped."""
    tab(page, "Run")
    page.locator("input.mantine-TextInput-input:visible").first.fill("a fox trotting")
    page.keyboard.press("Tab")
    until(lambda: session.run._prompt.value)
    page.get_by_role("button", name="Start").click()
    job = until(lambda: session.run.job)
    until(lambda: job.error or job.watcher.frames is not None)
    page.mouse.move(800, 400)  # the panel
    page.mouse.wheel(0, 170)
    shoot(page, "view_run")
    page.get_by_role("button", name="Stop").click()
    until(lambda: not job.is_running)


def main() -> None:
    """Take them all."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium was not found")
    fox = build_creature("fox")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fox.glb"
        write_creature(fox, [make_clip(fox, action, cycles=1) for action in ACTIONS], path)
        with Viewer(path, port=0) as viewer, sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=list(GL))
            page = browser.new_page(viewport={"width": 960, "height": 540})
            page.set_default_timeout(300_000)
            page.goto(viewer.address)
            page.get_by_text("Compare with").wait_for()
            (session,) = until(lambda: viewer.sessions)
            page.locator(".mantine-Notification-closeButton").first.dispatch_event("click")
            wanted = sys.argv[1:] or ["view_clip", "view_pose", "view_run"]
            for name, part in {"view_clip": compare, "view_pose": pose, "view_run": run}.items():
                if name in wanted:
                    part(page, session)
            browser.close()


if __name__ == "__main__":
    main()
