"""Shell examples of the documentation are commands that exist, with options that exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from akd.commands.command_line import parse_command
from akd.commands.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SHELL = ("", "sh", "bash", "console")
CODE = re.compile(r"`(akd [a-z][^`\n]*)`")
END = re.compile(r"\s{2,}|\s#|\s>\s|;\s*done")
"""Of a command: a remark in another column, a comment, a redirection, the end of a loop."""


def shell_lines(text: str) -> Iterator[str]:
    """Lines of fenced shell blocks and of indented ones, continued lines joined."""
    language = None
    for line in re.sub(r"\\\n(?:> |\s*)", "", text).splitlines():
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
        elif language in SHELL or (language is None and line.startswith("    akd ")):
            yield line.strip()


def examples(text: str) -> list[str]:
    """Commands that a reader may copy."""
    lines = (re.sub(r"^(\$ |for .*; do )", "", line) for line in shell_lines(text))
    return [END.split(line)[0] for line in lines if line.startswith("akd ")]


def alternatives(line: str) -> list[list[str]]:
    """`akd pose sample|score` as two commands; optional parts are given."""
    words = shlex.split(line.replace("[", "").replace("]", "").replace("$seed", "1"))[1:]
    place = next((i for i, word in enumerate(words) if "|" in word), None)
    if place is None:
        return [words]
    return [[*words[:place], one, *words[place + 1 :]] for one in words[place].split("|")]


def said(words: list[str], capsys) -> tuple[object, str]:
    """Exit code and text of parsing a command; it is not run."""
    code: object = 0
    try:
        parse_command(words)
    except UsageError as error:
        return 2, str(error)
    except SystemExit as stopped:
        code = stopped.code
    out, err = capsys.readouterr()
    return code, out + err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_are_parsed(page, capsys):
    wrong = {}
    for line in examples(page.read_text("utf-8")):
        for words in alternatives(line):
            if words[0] in ("--version", "--tyro-print-completion"):
                continue
            code, text = said(words, capsys)
            # The overview of all commands leaves out what some of them need.
            if code and not ("|" in line and "equired" in text):
                wrong[line] = text
    assert wrong == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_in_sentences_exist(page, capsys):
    wrong = []
    for line in CODE.findall(page.read_text("utf-8")):
        _, *words = re.sub(r"[\[\]]|\.\.\.", "", line).split()
        parts = words[:2] if words[0] in ("pose", "prior") else words[:1]
        for name in (part for part in parts[-1].split("|") if not part.startswith("-")):
            code, text = said([*parts[:-1], name, "--help"], capsys)
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            if code or not options <= {*re.findall(r"--[a-z][a-z0-9-]*", text), "--help"}:
                wrong.append(line)
    assert wrong == []


def test_readme_has_examples():
    found = examples((ROOT / "README.md").read_text("utf-8"))
    assert len(found) > 20
    assert 'akd animate fox.glb "a fox walking" -o out/' in found
