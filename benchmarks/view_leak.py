"""Open the viewer many times in a row and print the server's memory and threads after each ten.

python -m benchmarks.view_leak [--loads 50]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from akd.export.creature import write_creature
from akd.view.server import Viewer
from akd.zoo import build_creature, make_clip
from benchmarks.memory import say

GL = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def main() -> None:
    """Load, wait for the clip to play, leave; again and again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", type=int, default=50)
    loads = parser.parse_args().loads
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fox.glb"
        fox = build_creature("fox", vertices=1000)
        write_creature(fox, [make_clip(fox, "walk", cycles=1)], path)
        with Viewer(path, port=0) as viewer, sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=list(GL))
            for load in range(1, loads + 1):
                page = browser.new_page(viewport={"width": 300, "height": 200})
                page.goto(viewer.address)
                while not viewer.sessions:
                    page.wait_for_timeout(50)
                viewer.sessions[0].play(True)
                page.wait_for_timeout(500)
                page.close()
                while viewer.sessions:
                    time.sleep(0.05)
                if load == 1 or load % 10 == 0:
                    say(load, "loads")
            browser.close()


if __name__ == "__main__":
    main()
