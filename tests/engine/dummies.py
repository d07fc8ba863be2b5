"""Tasks that write a number, and some that fail or die on the way."""

import os
import signal
import time
from pathlib import Path

from akd.engine.call import Refused
from akd.engine.job import Job


def write_number(arguments, place):
    """Sleep `seconds`, leaving the process id in `pid` for whoever wants to kill it.

    Goes on from its own checkpoint, and counts how often it began and ended.
    """
    number = arguments["number"]
    _count(place.out / "began", number)
    checkpoint = place.folder / "checkpoint"
    resumed = checkpoint.exists()
    checkpoint.write_text("half way")
    (place.folder / "pid").write_text(str(os.getpid()))
    if not resumed:
        time.sleep(arguments.get("seconds", 0.0))
    if arguments.get("die") and not resumed:
        os.kill(os.getpid(), signal.SIGKILL)
    checkpoint.unlink()
    (place.folder / "pid").unlink()
    (place.folder / "number.txt").write_text(f"{number * number}\n")
    if "text" in place.files:
        (place.folder / "text.txt").write_text(place.files["text"].read_text())
    _count(place.out / "ended", number)
    return {"square": number * number, "resumed": resumed}


def name_gpus(arguments, place):
    """Which GPUs this process sees; waits for the other jobs, so that each has a worker."""
    (place.out / f"begun-{arguments['number']}").touch()
    deadline = time.monotonic() + 60.0
    while len(list(place.out.glob("begun-*"))) < arguments["others"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return {"gpus": os.environ["CUDA_VISIBLE_DEVICES"]}


def name_process(arguments, place):
    return {"process": os.getpid()}


def fail(arguments, place):
    print("about to fail")
    raise RuntimeError("no luck")


def die(arguments, place):
    """As an asset does whose reader is killed for its memory."""
    print("about to die", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


class OfTwo(Exception):
    """As of some libraries: pickle cannot make it again from its message."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def fail_in_two(arguments, place):
    raise OfTwo("no answer", 503)


def refuse(arguments, place):
    raise Refused(f"{arguments['number']} is no good")


def refuse_file(arguments, place):
    raise Refused(f"{place.files['text']}: is no good")


def answer_badly(arguments, place):
    return {"square": lambda: None}


def numbers(count, **arguments):
    return [
        Job(write_number, {"number": k, **arguments}, f"number {k}", publish=True)
        for k in range(count)
    ]


def results(out: Path) -> dict[str, bytes]:
    """All files of the results."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] not in ("run", "began", "ended")
    }


def counted(folder: Path) -> dict[str, int]:
    return {path.name: len(path.read_text()) for path in folder.iterdir()}


def _count(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / str(number)).open("a") as file:
        file.write(".")
