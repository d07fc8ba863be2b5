"""CPU time until the help of each command is there, and that `import akd` takes.

CPU time and not the clock, so that a busy machine changes little.
"""

import resource
import subprocess
import sys
import typing

import pytest

from akd.commands.command_line import Command


def words_of(union: object) -> list[tuple[str, ...]]:
    """The words that name each command of a union, and each command within it."""
    found: list[tuple[str, ...]] = []
    for each in typing.get_args(union):
        command, about = typing.get_args(each)
        inner = typing.get_type_hints(command, include_extras=True).get("do")
        found += [(about.name,), *((about.name, *words) for words in words_of(inner))]
    return found


def cpu_seconds(*arguments: str) -> float:
    """User and system time of Python with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_importing_the_package_takes_less_than_a_third_of_a_second():
    cpu_seconds("-c", "import akd")  # compiles what is not compiled yet
    assert cpu_seconds("-c", "import akd") < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), *words_of(Command)], ids=" ".join)
def test_help_takes_less_than_a_second(words: tuple[str, ...]):
    assert cpu_seconds("-m", "akd", *words, "--help") < 1.0
