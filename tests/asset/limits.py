"""Reads files in a process that may take 1 GiB and 10 s for each, and watches what it opens."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """
import json, resource, signal, sys, traceback
from pathlib import Path
import akd
import numpy, scipy.spatial, scipy.spatial.transform, trimesh, PIL.Image
from akd.asset.asset import AssetError
from akd.asset.read import read_asset
PIL.Image.init()

folder, opened, watching = None, [], False
own = [str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix, Path(akd.__file__).parent)]
USE = sys.argv[1:] == ["use"]
if USE:
    from tests.asset.use import FOLDER, use, warm_up
    own.append(str(FOLDER))
    warm_up()

def watch(event, arguments):
    if not watching:
        return
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        name = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode()
        real = str(Path(name).resolve())
        if not real.startswith((folder, *own)):
            opened.append(real)
    elif event.startswith(("socket.", "subprocess.", "urllib.", "os.system", "os.exec")):
        opened.append(event)

sys.addaudithook(watch)

def too_long(*_):
    raise TimeoutError("more than 10 s of processor time")

signal.signal(signal.SIGVTALRM, too_long)
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
limit = size + 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for line in sys.stdin.read().splitlines():
    folder = str(Path(line).parent.resolve())
    opened.clear()
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)
    watching = True
    try:
        asset = read_asset(line)
        outcome, text = "asset", f"{asset.vertex_count} vertices"
        if USE:
            use(asset)
    except AssetError as error:
        outcome, text = "refused", str(error)
    except BaseException:
        outcome, text = "failed", traceback.format_exc()
    finally:
        watching = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    asset = None
    print(json.dumps([outcome, text, opened]), flush=True)
"""


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    path: Path
    kind: str
    """`asset`, `refused` or `failed`."""
    text: str
    opened: list[str]
    """Files opened outside the asset's folder, and calls to the network."""


def read_within_limits(paths: list[Path], *, use: bool = False) -> list[Outcome]:
    """Read files one after another; each must give an asset or one line, and open nothing else.

    With `use`, everything that can be done with an asset is done as well.
    """
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *(["use"] if use else [])],
        input="\n".join(map(str, paths)),
        text=True,
        capture_output=True,
        check=False,
    )
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == len(paths), f"died at {paths[len(lines)]}: {result.stderr}"
    outcomes = [Outcome(path, *line) for path, line in zip(paths, lines, strict=True)]
    for outcome in outcomes:
        assert outcome.kind != "failed", f"{outcome.path}: {outcome.text}"
        assert outcome.opened == [], outcome
        if outcome.kind == "refused":
            assert outcome.text.startswith(f"{outcome.path}: "), outcome
            assert "\n" not in outcome.text, outcome
    return outcomes
