"""How deep the call stack is from the command to the score gradient: the flow stays flat."""

import sys
from pathlib import Path
from types import FrameType

import pytest

import akd
from akd.cli import main
from akd.distill import step
from tests.commands.animating import words

PACKAGE = str(Path(akd.__file__).parent)


@pytest.mark.slow
def test_six_calls_from_the_command_to_the_score_gradient(fox, weights, tmp_path, monkeypatch):
    stack: list[str] = []

    def watched(*_: object, **__: object) -> None:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            code = frame.f_code
            # The checks of shapes and types wrap functions under the tests alone.
            if code.co_filename.startswith(PACKAGE):
                stack.append(code.co_qualname)
            frame = frame.f_back
        raise KeyboardInterrupt

    monkeypatch.setattr(step, "score_gradient", watched)
    assert main(words(fox, weights, tmp_path / "out")) == 130
    flow = stack[: stack.index("Animate.run")]
    assert flow == [
        "DistillStep.losses", "GraphStep.__call__", "distil", "animate_part", "animate",
    ]  # fmt: skip
