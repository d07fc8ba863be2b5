"""Memory over a long distillation and over many visits of the viewer; it must stay flat.

    python -m benchmarks.memory [--iterations 2000] [--visits 200] [--loads 50]

All run in this process, on a small fox and weights that are not trained. A visit is a connection
that a browser makes: it waits for the scene, plays, and leaves. A load is the same with a real
Chromium.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import torch
from websockets.sync.client import connect
from websockets.sync.connection import Connection

import akd
from akd.base.observer import Observer, Observers
from akd.distill.run_folder import RunFolder
from akd.export.creature import write_creature
from akd.presets import TINY, with_values
from akd.view.server import Viewer
from akd.zoo import build_creature, make_clip
from tests.commands.small_prior import QUICK, write_weights

EVERY = 100
GL = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""Arguments with which Chromium draws in software."""
CAMERA = msgspec.msgpack.encode(
    {
        "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 1.0, -3.0),
        "fov": 1.0, "near": 0.1, "far": 100.0, "image_height": 200, "image_width": 300,
        "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 1.0, 0.0),
    }
)  # fmt: skip
"""What a browser sends first: without it viser does not count the connection as a visitor."""


def resident() -> float:
    """Memory of this process, MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("/proc/self/status has no VmRSS")


def say(count: int, what: str) -> None:
    gc.collect()
    threads = threading.active_count()
    print(f"{count:5} {what}  {resident():7.1f} MB  {threads} threads", flush=True)


class _Meter(Observer):
    """Prints the memory every hundred iterations of the distillation."""

    phase = ""

    def begin(self, phase: str) -> None:
        self.phase = phase

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        if self.phase == "distil" and iteration % EVERY == 0:
            say(iteration, "iterations")


def distil(fox: Path, folder: Path, iterations: int) -> None:
    """Animate, with checkpoints and previews as `akd animate` keeps them."""
    preset = with_values(TINY, (*QUICK[1:], f"iterations={iterations}"))
    run = RunFolder(folder / "out")
    akd.animate(
        akd.load(fox), "a fox walking", weights=write_weights(folder / "weights"), preset=preset,
        physics=False, device="cpu", observer=Observers(_Meter(), run),
    )  # fmt: skip
    run.close()


def receive(browser: Connection) -> None:
    """Take what the server sends for a moment, as a browser does."""
    until = time.monotonic() + 0.1
    with suppress(TimeoutError):
        while (left := until - time.monotonic()) > 0:
            browser.recv(timeout=left)


def visit(fox: Path, visits: int) -> None:
    """Connect, wait for the scene, play, leave; again and again."""
    with Viewer(fox, port=0) as viewer:
        address = viewer.address.replace("http:", "ws:")
        for number in range(1, visits + 1):
            with connect(
                address, origin=viewer.address, subprotocols=["viser-v1.1.1"], max_size=None
            ) as browser:
                browser.send(CAMERA)
                while not viewer.sessions:
                    receive(browser)
                viewer.sessions[0].play(True)
                receive(browser)
            while viewer.sessions:
                time.sleep(0.01)
            if number % (EVERY // 5) == 0:
                say(number, "visits")


def load(fox: Path, loads: int) -> None:
    """Open the page in a browser, wait for the clip to play, leave; again and again."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with Viewer(fox, port=0) as viewer, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=list(GL))
        for number in range(1, loads + 1):
            page = browser.new_page(viewport={"width": 300, "height": 200})
            page.goto(viewer.address)
            while not viewer.sessions:
                page.wait_for_timeout(50)
            viewer.sessions[0].play(True)
            page.wait_for_timeout(500)
            page.close()
            while viewer.sessions:
                time.sleep(0.05)
            if number == 1 or number % 10 == 0:
                say(number, "loads")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--visits", type=int, default=200)
    parser.add_argument("--loads", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder, creature = Path(name), build_creature("fox", vertices=600)
        fox = folder / "fox.glb"
        write_creature(creature, [make_clip(creature, "walk", cycles=1)], fox)
        if given.iterations:
            distil(fox, folder, given.iterations)
        if given.visits:
            visit(fox, given.visits)
        if given.loads:
            load(fox, given.loads)


if __name__ == "__main__":
    main()
