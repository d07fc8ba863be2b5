"""The Khronos validator, run once for many files."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "validator" / "validate.mjs"
PACKAGE = Path(__file__).resolve().parents[2] / "node_modules" / "gltf-validator"
ERROR, WARNING = 0, 1


def validate(paths: Sequence[Path]) -> list[list[dict]]:
    """The issues that the validator finds in each file: code, severity, pointer, message."""
    if shutil.which("node") is None or not PACKAGE.is_dir():
        pytest.skip("needs Node.js and the Khronos validator (npm ci)")
    reports: dict[str, list[dict]] = {}
    for start in range(0, len(paths), 100):
        names = [str(path) for path in paths[start : start + 100]]
        done = subprocess.run(["node", SCRIPT, *names], capture_output=True, check=True)
        reports.update(json.loads(done.stdout))
    return [reports[str(path)] for path in paths]


def codes(issues: Sequence[dict], severity: int) -> Counter:
    """How often each code of a severity is there."""
    return Counter(issue["code"] for issue in issues if issue["severity"] == severity)
