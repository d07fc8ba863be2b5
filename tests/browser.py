"""Chromium, for tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def open_chromium(*arguments: str) -> Iterator[Any]:
    """A browser without a window; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as play:
        made = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", *arguments])
        yield made
        made.close()
