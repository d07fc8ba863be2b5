"""`akd prior train` and its like refuse values out of range before they read anything."""

import pytest

from tests.commands.animating import refused

ALL = ("train", "train-recogniser", "train-regressor")


@pytest.mark.parametrize(
    ("commands", "option", "value", "rule"),
    [
        (ALL, "--minutes", "0", "above 0, got 0"),
        (ALL, "--minutes", "nan", "above 0, got nan"),
        (ALL, "--creatures", "0", "from 1 to 100000, got 0"),
        (ALL, "--workers", "-1", "from 0 to 1000, got -1"),
        (ALL[1:], "--judges", "0", "from 1 to 100000, got 0"),
        (("train", "train-regressor"), "--learning-rate", "1", "above 0 and below 1, got 1"),
    ],
)
def test_values_out_of_range_are_refused(capsys, tmp_path, commands, option, value, rule) -> None:
    for name in commands:
        more = ["b"] if name == "train-recogniser" else []
        out = tmp_path / name
        message = refused(capsys, ["prior", name, *more, option, value, "-o", str(out)])
        assert message == f"{option} must be {rule}"
        assert not out.exists()
