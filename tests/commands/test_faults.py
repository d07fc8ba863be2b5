"""A full disk, a read-only folder, deleted inputs, SIGTERM, a second run, a clock set back.

Command after command, in this process. Each fault is one clear error, and nothing partial is left.
"""

import ctypes
import os
import resource
import shutil
import signal
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

import akd.batch.harvest
from akd import cli
from akd.api import converting, fitting
from akd.api.loading import load
from akd.base import files
from akd.base.lock import hold_lock
from akd.commands import engines, export, retarget
from akd.engine.call import Ended, Seat
from akd.engine.run import hold_batch
from akd.export.creature import write_creature
from akd.fit.settings import FitSettings
from akd.math.threads import torch_threads
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord
from akd.posespace.shards import write_shard
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.scene.video import Video
from akd.zoo import build_creature, make_clip
from tests.base.clock import set_back

COMMANDS = {
    "fit": ("fit", "{fox}", "{video}", "-o", "{out}", "--pose-prior", "0"),
    "retarget": ("retarget", "{fox}:walk", "{dog}", "-o", "{out}/motion.glb", "--no-plant"),
    "convert": ("convert", "{fox}", "{out}/motion.glb"),
    "export": ("export", "{fox}", "--clip", "walk", "-o", "{out}", "--to", "bvh"),
    "batch": ("batch", "{jobs}", "-o", "{out}"),
    "pose harvest": ("pose", "harvest", "--zoo", "1", "-o", "{out}", "--device", "cpu"),
}
JOBS = ("batch", "pose harvest")
"""Commands whose jobs fail one by one: exit code 3."""
commands = pytest.mark.parametrize("command", COMMANDS)


class Inline:
    """An engine that runs calls in this process, where faults can be made."""

    def __init__(self):
        self._ended = []

    def has_gpus(self):
        return False

    def accepts(self, resources):
        return not self._ended

    def submit(self, call):
        try:
            with torch_threads(torch.get_num_threads()):  # which tasks set, in workers of their own
                made = call.function(*call.arguments, Seat("here", call.files))
            self._ended.append(Ended(call.key, made))
        except Exception as error:
            self._ended.append(Ended(call.key, error=error))

    def collect(self, timeout):
        ended, self._ended = self._ended, []
        return ended

    def close(self):
        pass


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A fox that walks, a dog, a video, and a file of jobs."""
    folder = tmp_path_factory.mktemp("sources")
    fox = build_creature("fox", vertices=600)
    write_creature(fox, [make_clip(fox, "walk", cycles=1)], folder / "fox.glb")
    write_creature(build_creature("dog", vertices=600), [], folder / "dog.glb")
    Video(torch.full((2, 16, 16, 3), 0.5), 12.0).write_mp4(folder / "video.mp4")
    (folder / "jobs.toml").write_text(
        '[[job]]\ntask = "retarget"\nclip = "fox.glb:walk"\ntarget = "dog.glb"\nplant = false\n'
    )
    return folder


@pytest.fixture(scope="module")
def fitted(sources):
    """A finished fit of a fox to two frames of itself."""
    fox = load(sources / "fox.glb")
    stage = Stage.of(fox, style=SceneStyle.TEXTURED, size=(48, 48), splats=300, ground=False)
    with torch.no_grad():
        frames = stage.show(stage.neutral.expand(2, -1, -1, -1))
    masks = ((frames - 0.5).abs().amax(-1) > 0.05).float()
    settings = FitSettings(size=48, splats=300, starts=1, iterations=1)
    return fitting.fit(
        fox, frames, masks=masks, fps=12.0, physics=False, device="cpu", settings=settings
    )


@pytest.fixture
def given(sources, fitted, tmp_path, monkeypatch):
    """The inputs of a test, which it may spoil; long work is left out."""
    shutil.copytree(sources, tmp_path / "in")
    codec = PoseCodec.of(fitted.character)
    record = BodyRecord("fox", "harvest", "fox", codec.body.tokens, 1.0)

    def harvest_one(body, out, **_):
        clips = (("clip", torch.zeros(40, codec.body.tokens, 3), torch.arange(40.0)),)
        rows = [{"job": "job", "kept": True, "reason": ""}]
        write_shard(out, "job", BodyPoses(record, codec.body, clips), rows)
        yield "a fox walking", rows

    monkeypatch.setattr(engines, "_local", lambda together: Inline())
    monkeypatch.setattr(akd.batch.harvest, "harvest", harvest_one)
    monkeypatch.setattr(akd.batch.harvest, "_models", lambda *found: None)
    monkeypatch.setattr(fitting, "fit", lambda *_, **__: fitted)
    return tmp_path / "in"


def run(command: str, given: Path, out: Path) -> int:
    names = {"fox": "fox.glb", "dog": "dog.glb", "video": "video.mp4", "jobs": "jobs.toml"}
    places = {key: given / name for key, name in names.items()} | {"out": out}
    return cli.main([word.format(**places) for word in COMMANDS[command]])


def errors(capsys) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if line.startswith("akd: ") and "note:" not in line]


def content(path: Path) -> object:
    """Bytes; safetensors writes its metadata in any order."""
    if path.suffix != ".safetensors":
        return path.read_bytes()
    tensors, about = files.read_tensors(path)
    return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}, about


def no_temporary(out: Path) -> bool:
    return not [path for path in out.rglob(".*") if path.is_file()]


@contextmanager
def full_disk():
    """Files of this process end at 2 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.slow
@commands
def test_a_full_disk_is_one_line(given, tmp_path, capsys, command):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("motion.glb", "fox-walk.bvh"):
        (out / name).write_text("old")
    with full_disk():
        code = run(command, given, out)
    said = capsys.readouterr().err
    (line,) = [line for line in said.splitlines() if line.startswith("akd: ")]
    assert code == (3 if command == "pose harvest" else 2), said
    assert "File too large" in (said if command == "pose harvest" else line), said
    assert str(out) in line or command == "pose harvest"
    assert no_temporary(out)
    assert (out / "motion.glb").read_text() == (out / "fox-walk.bvh").read_text() == "old"
    assert run(command, given, out) in (0, 3)  # with space again; a poor fit is 3


LIBC = ctypes.CDLL(None, use_errno=True)
OVERRIDES = (1 << 1) | (1 << 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


@contextmanager
def kept_permissions():
    """Let this thread, which may be root's, keep to the permissions of files."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, and their upper halves
    assert LIBC.capget(header, sets) == 0
    effective = sets[0]
    sets[0] = effective & ~OVERRIDES
    assert LIBC.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = effective
        assert LIBC.capset(header, sets) == 0


@pytest.mark.slow
@commands
def test_a_read_only_folder_is_one_line(given, tmp_path, capsys, command):
    out = tmp_path / "out"
    out.mkdir()
    (out / "motion.glb").write_text("old")
    out.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with kept_permissions():
            if os.access(out, os.W_OK, effective_ids=True):
                pytest.skip("this user writes to read-only folders")
            assert run(command, given, out) == 2
    finally:
        out.chmod(stat.S_IRWXU)
    (line,) = errors(capsys)
    assert "Permission denied" in line
    assert [path.name for path in out.iterdir()] == ["motion.glb"]
    assert (out / "motion.glb").read_text() == "old"


@pytest.mark.parametrize(
    ("command", "place", "name", "file"),
    [
        ("fit", fitting, "fit", "video.mp4"),
        ("retarget", retarget, "load_file", "dog.glb"),
        ("convert", converting, "read_asset", "fox.glb"),
        ("export", export, "load_file", "fox.glb"),
        ("batch", Inline, "submit", "dog.glb"),
    ],
)
def test_an_input_deleted_under_a_command_is_one_line(
    sources, tmp_path, capsys, monkeypatch, command, place, name, file
):
    """After the command has looked for it."""
    given, before = shutil.copytree(sources, tmp_path / "in"), getattr(place, name)

    def deleting(*arguments, **options):
        (given / file).unlink(missing_ok=True)
        return before(*arguments, **options)

    monkeypatch.setattr(engines, "_local", lambda together: Inline())
    monkeypatch.setattr(place, name, deleting)
    assert run(command, given, tmp_path / "out") == (3 if command in JOBS else 2)
    said = capsys.readouterr().err
    assert len([line for line in said.splitlines() if line.startswith("akd: ")]) == 1
    assert f"{given / file}: " in said
    assert not list((tmp_path / "out").glob("*.glb"))


@pytest.mark.slow
@commands
def test_sigterm_during_a_write_leaves_the_old_file(given, tmp_path, capsys, monkeypatch, command):
    """When the new file is complete and about to be renamed."""
    out, replace = tmp_path / "out", Path.replace
    out.mkdir()
    for name in ("motion.glb", "fox-walk.bvh"):
        (out / name).write_text("old")
    received = []

    def terminating(path, target):
        if not received:
            received.append(target)
            signal.raise_signal(signal.SIGTERM)
        return replace(path, target)

    before = signal.signal(signal.SIGTERM, cli.terminate)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", terminating)
            assert run(command, given, out) == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    (line,) = errors(capsys)
    assert line.startswith("akd: stopped")
    assert no_temporary(out)
    assert (out / "motion.glb").read_text() == (out / "fox-walk.bvh").read_text() == "old"
    assert run(command, given, out) in (0, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "hold"), [("fit", hold_lock), ("batch", hold_batch)])
def test_a_second_run_into_a_folder_is_one_line(given, tmp_path, capsys, command, hold):
    out = tmp_path / "out"
    with hold(out):
        assert run(command, given, out) == 2
        (line,) = errors(capsys)
        assert line.startswith(f"akd: {out}: another process ")
    assert run(command, given, out) in (0, 3)


@pytest.mark.slow
def test_a_second_harvest_into_a_folder_is_one_line(given, tmp_path, capsys):
    out = tmp_path / "out"
    with hold_batch(out):
        assert run("pose harvest", given, out) == 2
    (line,) = errors(capsys)
    assert line.startswith(f"akd: {out}: another process ")


@pytest.mark.slow
@commands
def test_a_clock_that_is_set_back_changes_nothing(given, tmp_path, monkeypatch, command):
    assert run(command, given, tmp_path / "out") in (0, 3)
    set_back(monkeypatch)
    assert run(command, given, tmp_path / "later") in (0, 3)
    timed = ("attempt.json", "log.txt", "index.html")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and path.name not in timed:
            later = tmp_path / "later" / path.relative_to(tmp_path / "out")
            assert content(later) == content(path), path
