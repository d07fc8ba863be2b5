"""How deep the call stack is from the command to the score gradient: the flow stays flat."""

import sys
from pathlib import Path

import pytest

import akd
from akd.cli import main
from akd.distill import score, step
from tests.commands.animating import words

PACKAGE = str(Path(akd.__file__).parent)


class Reached(Exception):
    """The stack was seen."""


@pytest.mark.slow
def test_six_calls_from_the_command_to_the_score_gradient(fox, weights, tmp_path, monkeypatch):
    stack: list[str] = []

    def watched(*_: object, **__: object) -> None:
        frame = sys._getframe()
        while frame is not None:
            code = frame.f_code
            # The checks of shapes and types wrap functions under the tests alone.
            if code.co_filename.startswith(PACKAGE):
                stack.append(code.co_qualname if sys.version_info >= (3, 11) else code.co_name)
            frame = frame.f_back
        raise Reached

    monkeypatch.setattr(step, "score_gradient", watched)
    assert score.score_gradient is not watched
    with pytest.raises(Reached):
        main(words(fox, weights, tmp_path / "out"))
    flow = stack[: stack.index("Animate.run")]
    assert flow == [
        "DistillStep.losses", "GraphStep.__call__", "distil", "animate_part", "animate",
    ]  # fmt: skip
