"""`run_command`: find the command that is asked for, run it, and turn its errors into one line."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import sys
import tempfile
import traceback
import typing
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any, get_args

import tyro

from akd.base.processor import avoid_broken_amx
from akd.commands.about import ABOUT, START, help_text, version_text
from akd.commands.animate import Animate
from akd.commands.batch import Batch
from akd.commands.cache import Cache
from akd.commands.command_help import Captured, explained, readable_width, wrapped
from akd.commands.convert import Convert
from akd.commands.create import Create
from akd.commands.demo import Demo
from akd.commands.errors import ResultFailed, UsageError, printable, say
from akd.commands.eval import Eval
from akd.commands.export import Export
from akd.commands.fit import Fit
from akd.commands.ground import Ground
from akd.commands.inspect import Inspect
from akd.commands.pose import Pose
from akd.commands.prior import Prior
from akd.commands.resume import Resume
from akd.commands.retarget import Retarget
from akd.commands.rig import Rig
from akd.commands.skin import Skin
from akd.commands.splat import Splat
from akd.commands.view import View
from akd.commands.zoo import Zoo

Command = (
    Annotated[Animate, tyro.conf.subcommand("animate")]
    | Annotated[Resume, tyro.conf.subcommand("resume")]
    | Annotated[Batch, tyro.conf.subcommand("batch")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Inspect, tyro.conf.subcommand("inspect")]
    | Annotated[Rig, tyro.conf.subcommand("rig")]
    | Annotated[Skin, tyro.conf.subcommand("skin")]
    | Annotated[Splat, tyro.conf.subcommand("splat")]
    | Annotated[Ground, tyro.conf.subcommand("ground")]
    | Annotated[Fit, tyro.conf.subcommand("fit")]
    | Annotated[Retarget, tyro.conf.subcommand("retarget")]
    | Annotated[Zoo, tyro.conf.subcommand("zoo")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[View, tyro.conf.subcommand("view")]
    | Annotated[Create, tyro.conf.subcommand("create")]
    | Annotated[Convert, tyro.conf.subcommand("convert")]
    | Annotated[Pose, tyro.conf.subcommand("pose")]
    | Annotated[Prior, tyro.conf.subcommand("prior")]
    | Annotated[Cache, tyro.conf.subcommand("cache")]
    | Annotated[Demo, tyro.conf.subcommand("demo")]
)


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit code, as `akd.cli.main` documents it."""
    try:
        match arguments:
            case []:
                print(START)
            case ["--version" | "-V"]:
                print(version_text())
            case ["help" | "--help" | "-h"]:
                print(help_text(_subcommands(Command)))
            case ["help", *words]:
                parse_command([*words, "--help"])
            case _:
                return _run(parse_command(arguments))
    except UsageError as error:
        say(f"akd: {printable(error)}", to=sys.stderr)
        return 2
    except BrokenPipeError:
        return _hang_up()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"akd: {printable(where)}{error.strerror or error}", to=sys.stderr)
        return 2
    return 0


def _run(command: Any) -> int:
    """Run a command; what any of its stages can raise is left to `run_command`."""
    try:
        os.getcwd()
    except FileNotFoundError:  # libraries of torch would end the process
        raise UsageError("the current folder was deleted: change to another one") from None
    avoid_broken_amx()  # before torch computes anything: it decides once what the processor can do
    from akd.asset.asset import AssetError  # after the help, which needs no numpy
    from akd.base.files import DamagedFile
    from akd.distill.run_folder import RunError

    try:
        command.run()
    except (AssetError, RunError, DamagedFile) as error:
        say(f"akd: {printable(error)}", to=sys.stderr)
        return 2
    except ResultFailed as error:
        say(f"akd: {printable(error)}", to=sys.stderr)
        return 3
    except (UsageError, OSError):
        raise
    except Exception as error:
        where = _write_traceback(error)
        say(f"akd: internal error: {printable(repr(error))}; see {where}", to=sys.stderr)
        return 70
    return 0


@readable_width()
def parse_command(arguments: list[str]) -> Any:
    """The command that is asked for, with its options.

    Only that command is given to tyro, which would otherwise suggest options of all others too.
    """
    config = (
        tyro.conf.OmitSubcommandPrefixes, tyro.conf.OmitArgPrefixes, tyro.conf.DisallowNone,
        tyro.conf.PositionalMetavarFromFieldName,
    )  # fmt: skip
    name, *options = arguments
    commands = _subcommands(Command)
    if name in commands:
        within = typing.get_type_hints(commands[name], include_extras=True).get("do")
        if within is not None and options and not options[0].startswith("-"):
            _check_name(options[0], _subcommands(within), prog=f"akd {name}")
        inner = _subcommands(within).get(options[0]) if within is not None and options else None
        if inner is not None:
            explained(inner)
        options = _gathered(options, inner or commands[name])
        prog = f"akd {name}"
        parse = partial(tyro.cli, explained(commands[name]), prog=prog, config=config)
        said = Captured()
        try:
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(said):
                return parse(args=options)
        except SystemExit as ended:
            if not ended.code:  # help
                print(wrapped(said.text()), end="")
                raise
        _check_options(options, parse, prog=prog, words=options[: within is not None])
        return parse(args=options)  # says what is wrong
    if not name.startswith("--tyro-"):  # tyro's own: shell completion
        _check_name(name, (*commands, "--help", "--version"), prog="akd")
    return tyro.cli(
        Command,  # pyright: ignore[reportArgumentType]
        prog="akd",
        description=ABOUT,
        args=arguments,
        config=config,
    )


def _gathered(options: list[str], command: type) -> list[str]:
    """The same with the values of every option that takes several in one place.

    Of an option that is given twice, tyro would take the last values and drop the first.
    """
    hints = typing.get_type_hints(command)
    several = {
        "--" + name.replace("_", "-") for name, kind in hints.items() if ... in get_args(kind)
    }
    values: dict[str, list[str]] = {}
    rest: list[str] = []
    place = rest
    for option in options:
        name, equals, value = option.partition("=")
        if (name := name.replace("_", "-")) in several:
            place = values.setdefault(name, [])
            place += [value] if equals else []
        elif re.match(r"-[^\d.]", option):
            place = rest
            rest.append(option)
        else:
            place.append(option)
    return rest + [word for name, words in values.items() for word in (name, *words)]


def _subcommands(union: object) -> dict[str, type]:
    """The commands of a union by name."""
    return {about.name: command for command, about in map(get_args, get_args(union))}


def _check_name(name: str, names: Collection[str], *, prog: str, listed: str = "commands") -> None:
    """Raise for a command or option that does not exist, and suggest the one meant."""
    if name in names:
        return
    what = "option" if name.startswith("-") else "command"
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise UsageError(f"there is no {what} {name!r}; {meant}`{prog} --help` lists all {listed}")


def _check_options(
    options: list[str], parse: Callable[..., Any], *, prog: str, words: list[str]
) -> None:
    """Raise for the first option that the command does not have; its help says which it has."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        parse(args=[*words, "--help"])
    names = set(re.findall(r"(?<=[\s,])--[a-z][a-z-]*", said.getvalue()))
    for option in options:
        if option.startswith("--") and len(option) > 2:
            name = option.partition("=")[0].replace("_", "-")
            _check_name(name, names, prog=" ".join([prog, *words]), listed="options")


def _hang_up() -> int:
    """Write nothing more to a reader that is gone, as in `akd --help | head -1`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _write_traceback(error: Exception) -> str:
    """Write a traceback to a new file, and return its path."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="replace", prefix="akd-error-", suffix=".txt", delete=False
    ) as file:
        traceback.print_exception(error, file=file)
    return file.name
