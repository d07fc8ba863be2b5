"""Names in the documentation exist, and its Python examples give the arguments that there are."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import akd

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAME = re.compile(r"\bakd(?:\.\w+)+")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def _exists(name: str) -> bool:
    """A module or package, or a name in the text of one: `akd.rig.units.find_units`."""
    place, rest = ROOT / "src" / "akd", name.removeprefix("akd.").split(".")
    rest[:1] = akd._MODULES.get(rest[0], f"akd.{rest[0]}").split(".")[1:]
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if rest and (place / f"{rest[0]}.py").exists():
        source = place / f"{rest.pop(0)}.py"
    else:
        source = place / "__init__.py"
    text = source.read_text("utf-8")
    return all(re.search(rf"\b{word}\b", text) for word in rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_the_documentation_exist(page):
    names = set(NAME.findall(page.read_text("utf-8")))
    assert not sorted(name for name in names if not _exists(name))


def _programs(page: Path) -> Iterator[ast.Module]:
    """Python examples; the signatures of api.md are none."""
    for code in PYTHON.findall(page.read_text("utf-8")):
        try:
            yield ast.parse(textwrap.dedent(code))
        except SyntaxError:
            assert page.name == "api.md", code


def _called(call: ast.Call, names: dict[str, object]) -> Callable[..., object] | None:
    """What a call calls, where that is a function or class of akd."""
    words = ast.unparse(call.func).split(".")
    found = names.get(words[0])
    for word in words[1:]:
        found = getattr(found, word, None)
    module = str(getattr(found, "__module__", getattr(found, "__name__", "")))
    return found if callable(found) and module.startswith("akd") else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_import_and_call_what_there_is(page):
    names: dict[str, object] = {"akd": akd}
    for program in _programs(page):
        for node in ast.walk(program):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("akd"):
                module = importlib.import_module(str(node.module))
                names |= {alias.name: getattr(module, alias.name) for alias in node.names}
        for node in ast.walk(program):
            if isinstance(node, ast.Call) and (called := _called(node, names)):
                given = {keyword.arg: None for keyword in node.keywords if keyword.arg}
                inspect.signature(called).bind_partial(*node.args, **given)
