"""Modules, functions and classes that the documentation names exist."""

import re
from pathlib import Path

import pytest

import akd

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAME = re.compile(r"\bakd(?:\.\w+)+")


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
