"""The drawing of the rooms is that of the source."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_architecture.py"


def test_the_drawing_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_architecture", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    drawn = script.TARGET.read_text("utf-8")
    assert drawn == script.draw(), "run: python docs/make_architecture.py"
