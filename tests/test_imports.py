"""Modules that promise to be quick to import do not import torch."""

import ast
import subprocess
import sys
from pathlib import Path

import akd

PACKAGE = Path(akd.__file__).parent

LIGHT = ("akd", "akd.cli", "akd.commands.command_line", "akd.presets", "akd.zoo")
"""What `akd --help` needs."""

CHECK = """
import importlib, sys
for name in sys.stdin.read().split():
    importlib.import_module(name)
    if "torch" in sys.modules:
        sys.exit(f"importing {name} imports torch")
"""


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _promises_no_torch(path: Path) -> bool:
    where = path.relative_to(PACKAGE)
    if where.parts[0] in ("base", "asset") or where.stem == "settings":
        return True
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return "no torch here" in docstring.lower()


def test_light_modules_import_no_torch():
    found = [_name(path) for path in sorted(PACKAGE.rglob("*.py")) if _promises_no_torch(path)]
    assert len(found) > 40
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        input="\n".join([*LIGHT, *found]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
