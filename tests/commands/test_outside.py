"""What the system does to a command: no space, no permission, a signal. Nothing partial is left."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from akd.export.creature import creature_document, write_creature
from akd.export.gltf.write import write_glb
from akd.zoo import build_creature, make_clip

AKD = (sys.executable, "-m", "akd")


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    """A fox that walks."""
    path = tmp_path_factory.mktemp("walker") / "fox.glb"
    fox = build_creature("fox", vertices=600)
    write_creature(fox, [make_clip(fox, "walk")], path)
    return path


@pytest.fixture
def alone(tmp_path):
    source = Path(__file__).resolve().parents[2] / "src"
    return {
        **os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(source),
        "AKD_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip


def hear_ctrl_c() -> None:
    """Also where the tests run in the background, for which shells have Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def limit_files() -> None:
    """Files of this process end at 20 kB, as on a full disk; SIGXFSZ would end the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("zoo", "snake", "-o", "{out}/fox.glb", "--vertices", "1500"),
        ("splat", "{fox}", "-o", "{out}/fox.ply", "--quick"),
        ("inspect", "{fox}", "--image", "{out}/roles.png"),
        ("export", "{fox}", "--clip", "walk", "-o", "{out}", "--to", "bvh,usd"),
        ("convert", "{fox}", "{out}/fox.usda", "--clip", "walk"),
        ("ground", "{fox}", "--clip", "walk", "-o", "{out}", "--iterations", "1"),
    ],
    ids=lambda command: command[0],
)
def test_a_full_disk_is_one_line_and_leaves_the_old_file(walker, alone, tmp_path, command):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("fox.glb", "fox.ply", "roles.png", "fox-walk.bvh", "motion.glb"):
        (out / name).write_text("old")
    words = [word.format(out=out, fox=walker) for word in command]
    done = subprocess.run(
        [*AKD, *words], env=alone, preexec_fn=limit_files, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("akd: ")]
    assert len(errors) == 1, done.stderr
    assert "File too large" in errors[0]
    for path in out.rglob("*"):
        assert not path.name.startswith("."), path
        if path.is_file() and path.stat().st_size > 3:
            # What was written before the error is complete.
            assert path.stat().st_size < 20_000, path


LIBC = ctypes.CDLL(None)


def keep_to_permissions() -> None:
    """Let a process of root keep to the permissions of files and folders from its next exec on."""
    drop, override, read_search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    for capability in (override, read_search):
        LIBC.prctl(drop, capability, 0, 0, 0)


@pytest.fixture
def read_only(tmp_path):
    """A folder that the commands of a test cannot write to."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old.glb").write_text("old")
    folder.chmod(0o500)
    written = subprocess.run(
        ["touch", str(folder / "new")], preexec_fn=keep_to_permissions, capture_output=True,
        check=False,
    )  # fmt: skip
    if written.returncode == 0:
        pytest.skip("this user writes to read-only folders")
    yield folder
    folder.chmod(0o700)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("zoo", "fox", "-o", "{out}/old.glb", "--vertices", "600"),
        ("export", "{fox}", "--clip", "walk", "-o", "{out}", "--to", "bvh"),
        ("animate", "{fox}", "a fox walking", "-o", "{out}"),
    ],
    ids=lambda command: command[0],
)
def test_a_read_only_folder_is_one_line(walker, alone, read_only, command):
    words = [word.format(out=read_only, fox=walker) for word in command]
    done = subprocess.run(
        [*AKD, *words], env=alone, preexec_fn=keep_to_permissions, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("akd: ")]
    assert len(errors) == 1, done.stderr
    assert "Permission denied" in errors[0]
    assert ".part" not in errors[0]
    assert [path.name for path in read_only.iterdir()] == ["old.glb"]
    assert (read_only / "old.glb").read_text() == "old"


SLOW_WRITE = """
import sys, time
from pathlib import Path
from akd.base.files import write_atomically
from akd.cli import main
from akd.commands.cache import Cache

def run(self):
    with write_atomically(Path("old.txt")) as file:
        file.write(b"half of the new")
        print("writing", flush=True)
        time.sleep(60)

Cache.run = run
sys.argv = ["akd", "cache"]
sys.exit(main())
"""


@pytest.mark.parametrize("background", [False, True])
def test_sigterm_during_a_write_stops_like_ctrl_c(alone, tmp_path, background):
    """Shells start jobs in the background with Ctrl-C ignored."""
    interrupt = signal.SIG_IGN if background else signal.default_int_handler
    (tmp_path / "old.txt").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITE], env=alone, cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, interrupt),  # noqa: PLW1509
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "akd: stopped\n")
    assert (tmp_path / "old.txt").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.txt"]


INTERRUPTED = """
import signal, sys
import akd.cli
from akd.commands import command_line

def stop(*_):
    signal.raise_signal(signal.SIGINT)

command_line.parse_command = stop
sys.exit(akd.cli.main(["inspect", "fox.glb"]))
"""


@pytest.mark.slow
def test_ctrl_c_before_a_command_begins_is_one_line(alone):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], env=alone, capture_output=True, text=True,
        check=False, preexec_fn=hear_ctrl_c,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "akd: stopped\n")


WHILE_IMPORTING = """
import signal, sys

class Stopping:
    def find_spec(self, name, *_):
        if name == "tyro":
            signal.raise_signal(signal.{number})

sys.meta_path.insert(0, Stopping())
import akd.cli
assert "tyro" not in sys.modules and "subprocess" not in sys.modules, "imported too early"
sys.argv = ["akd", "--version"]
sys.exit(akd.cli.main())
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_ctrl_c_while_commands_are_imported_is_one_line(alone, number):
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTING.format(number=number)], env=alone,
        capture_output=True, text=True, check=False, preexec_fn=hear_ctrl_c,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "akd: stopped\n")


def test_ctrl_c_that_is_ignored_stays_ignored(alone):
    """As shells start jobs in the background."""
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTING.format(number="SIGINT")], env=alone,
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_closed_streams_are_no_error_and_no_part_of_the_result(alone, tmp_path):
    """As daemons start programs: the next file that is opened would be the standard output."""
    shell = 'exec "$0" "$@" <&- >&- 2>&-'
    for place in ("open", "closed"):
        words = [*AKD, "zoo", "fox", "-o", str(tmp_path / f"{place}.glb"), "--vertices", "600"]
        command = words if place == "open" else ["sh", "-c", shell, *words]
        subprocess.run(command, env=alone, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "closed.glb").read_bytes() == (tmp_path / "open.glb").read_bytes()


@pytest.mark.slow
def test_a_deleted_current_folder_is_one_line(alone, walker, tmp_path):
    (tmp_path / "gone").mkdir()
    shell = 'cd "$1" && rmdir "$1" && shift && exec "$0" "$@"'
    words = [*AKD[1:], "export", str(walker), "--clip", "walk"]
    done = subprocess.run(
        ["sh", "-c", shell, AKD[0], str(tmp_path / "gone"), *words], env=alone,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "akd: the current folder was deleted: change to another one\n"


@pytest.mark.slow
def test_help_onto_a_full_disk_is_one_line(alone):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*AKD, "--help"], env=alone, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "akd: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("home", [None, "/proc/none"])
def test_a_user_without_a_home_can_work(alone, walker, tmp_path, home):
    """As in containers that run as any user; Warp keeps its kernels in the home."""
    for name in ("AKD_CACHE", "XDG_CACHE_HOME", "WARP_CACHE_PATH", "HOME"):
        alone.pop(name, None)
    if home is not None:
        alone["HOME"] = home
    script = (
        "import os, sys; os.getuid = lambda: 424242; from akd.cli import main; sys.exit(main())"
    )
    for words in (["splat", walker, "-o", tmp_path / "a.ply", "--quick"], ["cache"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, words)], env=alone, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.ply"]


@pytest.mark.slow
def test_a_terminal_that_has_not_all_letters_shows_their_numbers(alone, tmp_path):
    path = tmp_path / "fox.glb"
    document = creature_document(build_creature("fox", vertices=600), [])
    for node in document.json["nodes"]:
        node["name"] = f"\u9aa8 {node['name']}"
    write_glb(document, path)
    done = subprocess.run(
        [*AKD, "inspect", str(path)], env={**alone, "PYTHONIOENCODING": "ascii"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert rb"\u9aa8 " in done.stdout
