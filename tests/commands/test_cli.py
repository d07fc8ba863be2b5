"""The command line: what it prints, what it refuses and how, and what it does not import."""

import json
import os
import re
import shlex
import subprocess
import sys
import typing
from pathlib import Path

import pytest
import tyro

from akd import __version__
from akd.cli import main
from akd.commands.command_line import Command, parse_command
from akd.commands.errors import say
from akd.commands.terminal import viewer_needs
from akd.export.creature import write_creature
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from tests.commands.small_prior import write_weights


def refused(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    return printed.err.strip()


def test_version(capsys):
    assert main(["--version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"akd {__version__}"
    assert [line.split()[0] for line in lines[1:]] == [
        "python", "devices", "extras", "missing", "blender",
    ]  # fmt: skip
    assert "cpu" in lines[2]


def test_alone_it_says_what_to_try(capsys):
    assert main([]) == 0
    said = capsys.readouterr().out
    assert [f"akd {word}" in said for word in ("demo", "inspect", "animate")] == [True] * 3


def commands(union: object) -> list[type]:
    """The commands of a union, and those within them."""
    found = [typing.get_args(each)[0] for each in typing.get_args(union)]
    inner = [typing.get_type_hints(each, include_extras=True).get("do") for each in found]
    return found + [each for one in inner if one is not None for each in commands(one)]


@pytest.mark.parametrize("columns", ["1", "4"])
def test_help_for_a_narrow_terminal_ends(capsys, monkeypatch, columns):
    """tyro alone does not."""
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit):
        main(["cache", "--help"])
    assert "Remove all of it." in capsys.readouterr().out
    assert os.environ["COLUMNS"] == columns


@pytest.mark.parametrize("command", commands(Command), ids=lambda command: command.__name__)
def test_every_help_has_an_example_that_can_be_read(command):
    (line,) = re.findall(r"Example: (akd .+)", command.__doc__ or "")
    words = shlex.split(line)[1:]
    parsed = tyro.cli(
        Command,  # pyright: ignore[reportArgumentType]
        args=words, config=(tyro.conf.OmitSubcommandPrefixes, tyro.conf.OmitArgPrefixes),
    )  # fmt: skip
    inner = getattr(parsed, "do", parsed)
    assert isinstance(parsed, command) or isinstance(inner, command)


@pytest.mark.parametrize(
    ("words", "wrong", "meant", "command"),
    [
        (["animate", "fox.glb", "a fox", "-o", "out", "--iteration", "3"],
         "--iteration", "--iterations", "animate"),
        (["animate", "fox.glb", "--sede=1", "-o", "out"], "--sede", "--seed", "animate"),
        (["animate", "fox.glb", "--sede", "1"], "--sede", "--seed", "animate"),
        (["ground", "--clp", "walk"], "--clp", "--clip", "ground"),
        (["pose", "ik", "fox.glb", "--handel", "a=0,0,0"], "--handel", "--handle", "pose ik"),
    ],
)  # fmt: skip
def test_an_unknown_option_suggests_the_right_one(capsys, words, wrong, meant, command):
    assert refused(capsys, *words) == (
        f"akd: there is no option {wrong!r}; did you mean {meant!r}? "
        f"`akd {command} --help` lists all options"
    )


def test_an_option_with_several_values_may_be_given_several_times():
    words = ["pose", "ik", "fox.glb", "--handle", "a=0,0,0", "b=1,0,0", "-o", "out", "--pin", "c"]
    solve = parse_command([*words, "--handle=d=2,0,0", "--pin", "e", "--no-stand"]).do
    assert solve.handle == ("a=0,0,0", "b=1,0,0", "d=2,0,0")
    assert (solve.pin, str(solve.out), solve.stand) == (("c", "e"), "out", False)
    words = ["animate", "fox.glb", "a fox", "-o", "out", "--set", "iterations=1"]
    assert parse_command([*words, "--set", "splats=10"]).set == ("iterations=1", "splats=10")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [(["fox.glb"], "--out PATH"), (["fox.glb", "-o", "out", "--seed", "one"], "'one'")],
)
def test_what_else_is_wrong_with_options_is_said_too(capsys, words, wrong):
    with pytest.raises(SystemExit) as caught:
        main(["animate", *words])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert wrong in said
    assert "akd animate --help" in said


def test_an_unknown_command_suggests_the_right_one(capsys):
    assert refused(capsys, "anmate", "fox.glb") == (
        "akd: there is no command 'anmate'; did you mean 'animate'? `akd --help` lists all commands"
    )
    assert refused(capsys, "xyz") == (
        "akd: there is no command 'xyz'; `akd --help` lists all commands"
    )
    assert refused(capsys, "pose", "smaple", "fox.glb") == (
        "akd: there is no command 'smaple'; did you mean 'sample'? "
        "`akd pose --help` lists all commands"
    )
    assert refused(capsys, "--verison") == (
        "akd: there is no option '--verison'; did you mean '--version'? "
        "`akd --help` lists all commands"
    )


def test_help_fits_a_terminal_and_names_every_command_once(capsys):
    assert main(["help"]) == 0
    said = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == said
    names = [typing.get_args(each)[1].name for each in typing.get_args(Command)]
    assert re.findall(r"^  ([a-z]+) ", said, re.MULTILINE) == names
    assert max(map(len, said.splitlines())) <= 80
    assert len(said.splitlines()) < 50


def test_help_of_a_command_by_word(capsys):
    with pytest.raises(SystemExit):
        main(["help", "pose", "ik"])
    assert capsys.readouterr().out.startswith("usage: akd pose ik ")


def test_help_names_the_arguments(capsys):
    with pytest.raises(SystemExit):
        main(["animate", "--help"])
    said = capsys.readouterr().out
    assert said.startswith("usage: akd animate [-h] [OPTIONS] FILE [PROMPT]\n")
    assert "{None}" not in said


def commands() -> list[tuple[str, ...]]:
    """The words of every command, and of every command within a command."""
    found = []
    for each in typing.get_args(Command):
        kind, name = typing.get_args(each)[0], typing.get_args(each)[1].name
        within = typing.get_type_hints(kind, include_extras=True).get("do")
        inner = [typing.get_args(a)[1].name for a in typing.get_args(within)]
        found += [(name, word) for word in inner] or [(name,)]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_explains_every_option(capsys, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    said = capsys.readouterr().out
    assert "--help" in said
    # Where there is no text, the default follows the name, or stands alone on the next line.
    bare = r"^\W? *(?:\S+(?: \S+)*)? {2,}\((?:default|required).*"
    assert not re.findall(bare, said, re.MULTILINE)


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_of_a_command_fills_a_terminal_of_80_columns(capsys, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if not line.startswith(("usage: ", "Example: "))]
    assert max(map(len, lines)) <= 80
    assert "(default: None)" not in said
    assert "(default: )" not in said


def test_help_does_not_break_lines_where_the_source_does(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["animate", "--help"])
    assert "whose result is a GLB; or a bare mesh, which" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_hangs_up_is_no_error():
    command = [sys.executable, "-m", "akd", "animate", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


def test_completion_for_shells(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--tyro-print-completion", "bash"])
    assert caught.value.code in (0, None)
    assert "complete" in capsys.readouterr().out


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from akd.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'scipy', 'trimesh', 'warp', 'skimage'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("inspect", "zoo", "export", "demo"):
        assert command in done.stdout


def test_a_missing_file(capsys):
    assert refused(capsys, "inspect", "no.glb") == "akd: no.glb: there is no such file"


def test_a_folder(capsys, tmp_path):
    expected = f"akd: {tmp_path}: is a folder, must be a file"
    assert refused(capsys, "inspect", str(tmp_path)) == expected


def test_a_file_that_is_no_model(capsys, tmp_path):
    (tmp_path / "x.glb").write_bytes(b"glTF")
    assert refused(capsys, "inspect", str(tmp_path / "x.glb")).startswith(f"akd: {tmp_path}/x.glb:")


@pytest.mark.slow
def test_a_wrong_axis_and_a_wrong_height(capsys, fox):
    assert (
        refused(capsys, "inspect", fox, "--up", "w") == "akd: --up must be auto, x, y or z, got 'w'"
    )
    message = "akd: --height must be in metres, above zero and below 1e6, got -2"
    assert refused(capsys, "inspect", fox, "--height", "-2") == message


def test_an_unknown_creature(capsys):
    message = refused(capsys, "zoo", "unicorn")
    assert message.startswith("akd: there is no 'unicorn' in the zoo: ")
    assert "fox" in message


def test_an_unknown_format_and_an_unknown_clip(capsys, fox):
    known = "bvh, usd, fbx, mp4, gif, webp"
    message = f"akd: --to takes formats out of {known}, separated by commas; got 'mov'"
    assert refused(capsys, "export", fox, "--to", "mov") == message
    hint = "; `akd convert` writes glb, npz, csv and ply"
    assert refused(capsys, "export", fox, "--to", "bvh,npz").endswith(f"got 'bvh,npz'{hint}")
    message = refused(capsys, "export", fox, "--clip", "fly")
    assert message.startswith(f"akd: {fox}: there is no clip 'fly': it has 'stand', 'walk'")


def test_a_folder_called_like_an_option_is_named_as_it_is(capsys, monkeypatch, tmp_path):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    message = refused(capsys, "export", "out/", "--to", "bvh")
    assert message == "akd: out: holds no result of `akd animate` (metrics.json)"


def test_a_missing_viewer_names_the_install_command(capsys, monkeypatch, tmp_path):
    assert viewer_needs() == ""
    for module in ("viser", "akd.view.server"):
        monkeypatch.setitem(sys.modules, module, None)
    message = refused(capsys, "view", str(tmp_path))
    assert message.startswith("akd: akd view needs akd[view]: pip install 'akd[view]' (")
    assert viewer_needs() == " (first: pip install 'akd[view]')"


def test_an_output_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("in the way")
    out = str(tmp_path / "file" / "fox.glb")
    assert refused(capsys, "zoo", "snake", "-o", out, "--vertices", "500").startswith("akd: ")


@pytest.fixture(scope="session")
def fox(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("zoo") / "fox.glb"
    creature = build_creature("fox", vertices=1000)
    motions = [make_clip(creature, action) for action in ("stand", "walk", "gallop")]
    write_creature(creature, motions, path)
    return str(path)


def test_zoo_writes_a_creature_with_its_clips(capsys, tmp_path):
    path = tmp_path / "snake.glb"
    assert main(["zoo", "snake", "-o", str(path), "--vertices", "500"]) == 0
    written = capsys.readouterr().out
    assert main(["inspect", str(path), "--json"]) == 0
    clips = [c["name"] for c in json.loads(capsys.readouterr().out)["clips"]]
    assert "slither" in clips
    assert written.splitlines()[-1] == f"clips: {', '.join(clips)}"


def test_inspect_describes_the_fox(capsys, fox):
    assert main(["inspect", fox, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "glb"
    assert found["axes"]["forward"] == "+z"
    assert {"stand", "walk", "gallop"} == {c["name"] for c in found["clips"]}
    roles = {j["role"] for j in found["joints"]}
    assert {"pelvis", "head", "left fore foot", "right hind foot", "tail 1"} <= roles
    assert found["control_rig"]["root"] == "pelvis"
    assert found["control_rig"]["travel"] == "root"
    assert found["problems"] == []
    assert main(["inspect", fox, "--height", "2"]) == 0
    assert "height         2.000 m" in capsys.readouterr().out


def test_export_writes_a_bvh_that_plays_the_walk(capsys, fox, tmp_path):
    assert main(["export", fox, "--clip", "WAL", "-o", str(tmp_path)]) == 0
    path = tmp_path / "fox-walk.bvh"
    assert capsys.readouterr().out.strip() == str(path)
    assert main(["inspect", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["clips"][0]["end"] > 0.5


@pytest.mark.slow
def test_every_real_file_is_described_or_refused_in_one_line(shared_assets):
    script = Path(__file__).with_name("inspect_every_file.py")
    done = subprocess.run(
        [sys.executable, script, shared_assets], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    described, refused_count = map(int, done.stdout.split())
    assert described > 290
    assert refused_count < 6


def test_an_unexpected_error_is_one_line_and_a_file(capsys, monkeypatch):
    from akd.commands.cache import Cache

    def fail(self):
        raise RuntimeError("no\x1b[31m\nway")

    monkeypatch.setattr(Cache, "run", fail)
    assert main(["cache"]) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("akd: internal error: RuntimeError(")
    assert "\x1b" not in line
    written = Path(line.split("; see ")[1])
    assert "Traceback" in written.read_text()
    written.unlink()


def test_clearing_the_cache_leaves_other_files(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("AKD_CACHE", str(tmp_path))
    (tmp_path / "splats").mkdir()
    (tmp_path / "splats" / "a.safetensors").write_bytes(b"1234")
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["cache", "--clear"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_outputs_that_are_no_files_are_refused(tmp_path):
    import os

    from akd.base.files import write_bytes

    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path()):
        with pytest.raises(OSError, match=r"not a regular file|directory"):
            write_bytes(path, b"")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "--learning-rate", "nan"), "--learning-rate must be above 0 and below 1"),
        (("train", "--stop-after", "-1"), "--stop-after must be above zero, got -1"),
        (("train", "--smoke", "--start", "no"), "no: holds no weights of the tiny prior"),
        (("train", "--smoke", "--start", "small"), "small: its weights are of another network"),
        (("train-recogniser", "a", "--unseen", "0"), "--unseen must be from 1 to 10000, got 0"),
        (("train-recogniser", "a", "--minutes", "-1"), "--minutes must be above zero, got -1"),
        (("train-recogniser", "c", "--smoke"), "--assets must be given: recogniser c learns from"),
        (("train-regressor", "--unseen", "-3"), "--unseen must be from 1 to 10000, got -3"),
        (("train-regressor", "--start", "no"), "no: there is no such file"),
        (
            ("train-regressor", "--smoke", "--start", "small/tiny-1.safetensors"),
            "must be of format akd-regressor-1",
        ),
    ],
)
def test_trainings_refuse_options_before_they_begin(capsys, monkeypatch, tmp_path, arguments, said):
    monkeypatch.chdir(tmp_path)
    if "small" in said or "format" in said:
        write_weights(tmp_path / "small")
    given = ("prior", *arguments, "-o", "out", "--device", "cpu")
    assert said in refused(capsys, *given)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("zoo", "fox", "-o", "fox.glb"), ("splat", "fox.glb", "-o", "fox.ply"),
        ("ground", "fox.glb", "-o", "out"), ("prior", "train"), ("prior", "evaluate"),
        ("prior", "sample", "a fox walking"), ("pose", "train", "poses.safetensors"),
        ("pose", "sample", "fox.glb"), ("pose", "ik", "fox.glb"), ("eval", "fox.glb"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", ["-1", str(10**20)])
def test_seeds_that_torch_does_not_take_are_one_line(
    capsys, monkeypatch, tmp_path, arguments, seed
):
    monkeypatch.chdir(tmp_path)
    message = refused(capsys, *arguments, "--seed", seed)
    assert message == f"akd: --seed must be from 0 to {2**63 - 1}, got {seed}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "option"), [("pose", "poses.safetensors"), ("prior", None)])
def test_devices_that_hold_no_numbers_are_refused(capsys, tmp_path, command, option):
    (tmp_path / "poses.safetensors").write_bytes(b"")
    given = [] if option is None else [str(tmp_path / option)]
    message = refused(capsys, command, "train", *given, "-o", str(tmp_path), "--device", "meta")
    assert message.endswith("device must be auto, cpu or cuda, got 'meta'")


def test_a_surface_without_a_finite_area_is_one_line(capsys, shared_assets, tmp_path):
    file = shared_assets / "robustness" / "found" / "splat_scales_not_finite.stl"
    message = refused(capsys, "splat", str(file), "-o", str(tmp_path / "x.ply"), "--quick")
    assert message.startswith(f"akd: {file}: the mesh must have a finite area above zero")


def test_sentences_are_broken_between_words_in_a_terminal_alone(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = "no: there is no such file " * 8 + "a-name-with-dashes.glb"
    say(words)
    assert capsys.readouterr().out == f"{words}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    say(words)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(lines) == words
