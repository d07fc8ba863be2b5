import pytest

from akd.prior.tiny.vocabulary import (
    NONE,
    TOKENS,
    Words,
    creature_word,
    ignored_words,
    read_prompt,
)
from akd.zoo.species.catalogue import SPECIES


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("a fox walking", Words("fox", "walk")),
        ("A red fox trots slowly.", Words("fox", "trot", "slowly")),
        ("the horse is galloping fast", Words("horse", "gallop", "quickly")),
        ("a woman running", Words("woman", "run")),
        ("a cat jumps", Words("cat", "jump")),
        ("T-rex turning left", Words("trex", "turn_left")),
        ("a lion turns to the right", Words("lion", "turn_right")),
        ("a teapot walking", Words(NONE, "walk")),
        ("idle", Words(NONE, "stand")),
        ("a dog strolled", Words("dog", "walk")),
        ("a maned wolf walking", Words("wolf", "walk")),
        ("two ponies trotting", Words("horse", "trot")),
        ("a man-eating tiger runs", Words("tiger", "run")),
    ],
)
def test_sentences_are_read(prompt: str, words: Words):
    assert read_prompt(prompt) == words


@pytest.mark.parametrize(
    ("prompt", "ignored"),
    [
        ("a fox walking", ()),
        ("the fox is walking and then turns to the left", ()),
        ("a snow-leopard is sneaking", ()),
        ("a raccoon walks happily", ("raccoon", "happily")),
        ("a knight on a horse, running fast", ("horse",)),
        ("a tiger runs and jumps", ("jumps",)),
        ("a dog trots slowly but proudly", ("proudly",)),
    ],
)
def test_words_that_the_prior_does_not_take_in_are_named(prompt: str, ignored: tuple[str, ...]):
    assert ignored_words(prompt) == ignored


def test_a_creature_that_the_weights_never_saw_is_ignored():
    tokens = (NONE, "fox", "walk")
    assert ignored_words("a dragon walking", tokens) == ("dragon",)
    assert str(read_prompt("a dragon walking", tokens).within(tokens)) == "a creature, walk"


def test_an_unknown_action_gets_one_line_that_lists_what_is_known():
    with pytest.raises(ValueError) as error:
        read_prompt("a fox playing the violin", (NONE, "fox", "walk", "turn_right"))
    assert str(error.value) == (
        "prompt 'a fox playing the violin': the tiny prior knows no such action; it knows walk, "
        "turn right. Other actions need a large prior (`akd prior list`)"
    )


@pytest.mark.parametrize(
    ("prompt", "verb"), [("a fox walkng", "walking"), ("a fox galoping", "galloping")]
)
def test_a_typing_error_is_recognised(prompt, verb):
    with pytest.raises(ValueError, match=f"prompt '{prompt}': did you mean '{verb}'[?] the tiny"):
        read_prompt(prompt)


def test_a_turn_needs_a_side():
    with pytest.raises(ValueError, match="say 'turning left' or 'turning right'"):
        read_prompt("a fox turning")


def test_words_must_be_in_the_vocabulary():
    with pytest.raises(ValueError, match="'knit' is none of stand, walk"):
        Words("fox", "knit")


def test_every_species_of_the_zoo_has_a_word_and_tokens_are_distinct():
    assert all(creature_word(name) != NONE for name in SPECIES)
    assert len(set(TOKENS)) == len(TOKENS)
    assert TOKENS[Words("fox", "walk", "slowly").numbers()[1]] == "walk"
