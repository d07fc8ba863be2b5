import pytest

from akd.motion.prompt import split_prompt


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ("a fox walking", ("a fox walking",)),
        (
            "a fox walks, then jumps, then sits",
            ("a fox walks", "a fox jumps", "a fox sits"),
        ),
        ("a red fox walks and then it trots", ("a red fox walks", "a red fox trots")),
        ("a man is walking then running", ("a man is walking", "a man running")),
        ("a dog trots; then the dog jumps.", ("a dog trots", "the dog jumps")),
        ("an authentic walk", ("an authentic walk",)),
        ("then", ("then",)),
    ],
)
def test_actions_in_a_row(prompt, parts):
    assert split_prompt(prompt) == parts


def test_too_many_actions_are_refused():
    with pytest.raises(ValueError, match="at most 8 actions, got 9"):
        split_prompt("a fox walks" + ", then jumps" * 8)
