"""The documentation site builds: every page is in the navigation, every link leads somewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_builds_without_a_warning(tmp_path):
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    pages = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.html")}
    assert {"index.html", "reference.html", "tutorials/own_character.html"} <= pages
    assert "akd.pipeline.animate" in (tmp_path / "reference.html").read_text("utf-8")
