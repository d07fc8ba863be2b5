"""Frames of the viewer with a large character in Chromium, rendered in software.

Counts calls of requestAnimationFrame while a walk plays, reduced and with all triangles in turn,
and the CPU time that Chromium spends on one. Both depend on what else the machine does: on a busy
one the CPU time of a frame differed by 2.7 times between two runs.

python -m benchmarks.view_speed [--vertices 51000] [--seconds 5] [--rounds 2]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from akd.export.creature import write_creature
from akd.view.looks import TRIANGLES
from akd.view.server import Viewer
from akd.zoo import build_creature, make_clip
from benchmarks.memory import GL

DRAW = """count => new Promise(done => {
  const next = () => { if (count-- > 0) requestAnimationFrame(next); else done(); };
  requestAnimationFrame(next);
})"""
COUNT = """seconds => new Promise(done => {
  let frames = 0; const began = performance.now();
  const next = () => { frames += 1;
    const took = (performance.now() - began) / 1000;
    if (took < seconds || frames < 5) requestAnimationFrame(next);
    else done([frames, took]); };
  requestAnimationFrame(next);
})"""


def cpu_seconds() -> float:
    """CPU time of all Chromium processes that this one started."""
    parents, spent = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        if name.startswith("chrom"):
            spent[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return sum(seconds for pid, seconds in spent.items() if is_ours(pid))


def count_frames(
    browser: Browser, path: Path, most: int | None, seconds: float
) -> tuple[float, float]:
    """Play the clip of a file, shadows off: frames a second, and CPU seconds a frame."""
    with Viewer(path, port=0, most_triangles=most) as viewer:
        page = browser.new_page(viewport={"width": 700, "height": 420})
        page.set_default_timeout(120_000)
        page.goto(viewer.address)
        page.get_by_text("Compare with").wait_for()
        while not viewer.sessions:
            page.wait_for_timeout(50)
        session = viewer.sessions[0]
        session.client.scene.configure_default_lights(cast_shadow=False)
        session.play(True)
        page.wait_for_timeout(3000)
        page.evaluate(DRAW, 10)  # the first frames compile shaders
        before = cpu_seconds()
        frames, took = page.evaluate(COUNT, seconds)
        spent = cpu_seconds() - before
        page.close()
    return frames / took, spent / frames


def main() -> None:
    """Measure both in turn, and print each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vertices", type=int, default=51_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder) / "fox.glb"
        fox = build_creature("fox", vertices=args.vertices)
        write_creature(fox, [make_clip(fox, "walk", cycles=1)], path)
        browser = play.chromium.launch(executable_path=chromium, args=list(GL))
        for _ in range(args.rounds):
            for name, most in (("reduced", TRIANGLES), ("full", None)):
                rate, cost = count_frames(browser, path, most, args.seconds)
                load = os.getloadavg()[0]
                print(
                    f"{name:8} {rate:5.2f} frames/s  {cost:6.3f} CPU s a frame  load {load:.1f}",
                    flush=True,
                )
        browser.close()


if __name__ == "__main__":
    main()
