"""The words that the tiny prior knows, and how a sentence is read. No torch here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from akd.motion.actions import ACTION_LABELS, MANNER_LABELS, TURN, probable_verb, read_sentence

CREATURES: dict[str, tuple[str, ...]] = {
    "fox": ("fox", "vixen"),
    "wolf": ("wolf",),
    "dog": ("dog", "hound", "husky", "puppy"),
    "cat": ("cat", "kitten"),
    "tiger": ("tiger",),
    "lion": ("lion", "lioness"),
    "leopard": ("leopard", "cheetah", "jaguar", "panther"),
    "bear": ("bear",),
    "horse": ("horse", "pony", "donkey", "mule"),
    "zebra": ("zebra",),
    "deer": ("deer", "stag", "antelope", "gazelle", "elk", "moose"),
    "cow": ("cow", "bull", "ox", "bison", "buffalo"),
    "pig": ("pig", "boar", "hog"),
    "goat": ("goat", "sheep", "lamb", "ram", "alpaca", "llama"),
    "giraffe": ("giraffe",),
    "elephant": ("elephant", "mammoth"),
    "man": ("man", "person", "human", "humanoid", "boy", "soldier", "knight", "king", "robot"),
    "woman": ("woman", "girl", "queen"),
    "child": ("child", "kid", "toddler"),
    "ogre": ("ogre", "troll", "giant", "orc"),
    "trex": ("trex", "tyrannosaurus", "theropod", "dinosaur"),
    "allosaur": ("allosaur", "allosaurus"),
    "raptor": ("raptor", "velociraptor"),
    "ostrich": ("ostrich", "emu", "chicken"),
    "bird": (
        "bird", "crow", "pigeon", "sparrow", "gull", "eagle", "hawk", "owl", "heron", "duck",
        "goose", "swan", "crane", "parrot", "penguin",
    ),
    "dragon": ("dragon", "wyvern"),
    "frog": ("frog", "toad"),
    "snake": ("snake", "cobra", "python", "viper", "serpent"),
    "fish": ("fish", "trout", "salmon", "tuna", "koi", "shark"),
    "spider": ("spider", "tarantula"),
    "crab": ("crab", "lobster"),
    "quadruped": ("quadruped", "animal", "beast"),
    "biped": ("biped",),
}  # fmt: skip
"""Nouns for creatures. The last two are body plans; any other noun is a `creature`."""
PLAN_WORDS = {"quadruped": "quadruped", "humanoid": "biped", "theropod": "biped"}
"""Words for body plans; creatures of other plans are called by their names alone."""
_GRAMMAR = frozenset((
    "a", "an", "the", "this", "that", "it", "its", "he", "his", "she", "her", "they", "their",
    "is", "are", "was", "were", "be", "being", "do", "does", "doing", "go", "goes", "going",
    "and", "or", "but", "as", "while", "then", "just", "very", "own", "with", "of", "on", "in",
    "at", "to", "from", "by", "for", "into", "over", "across", "through", "around", "along",
))  # fmt: skip
"""Words without a meaning of their own here: leaving them out takes nothing from a prompt."""
NONE = "<none>"
"""Nothing was said, or nothing may be said."""
TOKENS: tuple[str, ...] = (NONE, *CREATURES, *ACTION_LABELS, *MANNER_LABELS)
SLOTS = 3
"""A sentence is read as a creature, an action and a manner."""


@dataclass(frozen=True)
class Words:
    """A sentence as the tiny prior understands it; `<none>` where nothing was said."""

    creature: str = NONE
    action: str = NONE
    manner: str = NONE

    def __post_init__(self) -> None:
        for word, words in (
            (self.creature, CREATURES),
            (self.action, ACTION_LABELS),
            (self.manner, MANNER_LABELS),
        ):
            if word != NONE and word not in words:
                raise ValueError(f"{word!r} is none of {', '.join(words)}")

    def numbers(self, tokens: Sequence[str] = TOKENS) -> tuple[int, int, int]:
        """Numbers of the words in a vocabulary; what it does not hold is not said."""
        known = self.within(tokens)
        return tokens.index(known.creature), tokens.index(known.action), tokens.index(known.manner)

    def within(self, tokens: Collection[str]) -> Words:
        """The words that are in a vocabulary; `<none>` in place of the others."""
        said = (self.creature, self.action, self.manner)
        return Words(*(word if word in tokens else NONE for word in said))

    def __str__(self) -> str:
        creature = "creature" if self.creature == NONE else self.creature
        manner = "" if self.manner == NONE else f" {self.manner}"
        return f"a {creature}, {self.action.replace('_', ' ')}{manner}"


def creature_word(species: str) -> str:
    """The word for a species of the zoo; `<none>` for one that has no word yet."""
    return _find_creature([species])


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


_CREATURE_OF = {
    form: name for name, nouns in CREATURES.items() for n in nouns for form in (n, _plural(n))
}


def _find_creature(words: Iterable[str]) -> str:
    return next((_CREATURE_OF[word] for word in words if word in _CREATURE_OF), NONE)


def ignored_words(prompt: str, tokens: Collection[str] = TOKENS) -> tuple[str, ...]:
    """Words of a prompt that a prior with these `tokens` does not take in, in their order.

    Raises `ValueError` as `read_prompt` does.
    """
    sentence, words = read_sentence(prompt), read_prompt(prompt, tokens).within(tokens)
    used = {word for action, named in sentence.named for word in named
            if action in (sentence.gait, TURN)}  # fmt: skip
    if words.action.startswith("turn_"):
        used.add(words.action.removeprefix("turn_"))
    if words.creature != NONE:
        used.add(next(word for word in sentence.words if word in _CREATURE_OF))
    if sentence.manners and words.manner != NONE:
        used |= set(sentence.manners[0].words)
    return tuple(
        dict.fromkeys(
            word
            for word in sentence.words
            if used.isdisjoint((word, word.split("-")[-1])) and word not in _GRAMMAR
        )
    )


def read_prompt(prompt: str, tokens: Collection[str] = TOKENS) -> Words:
    """Creature, action and manner of a sentence, for a prior that knows these `tokens`.

    Raises `ValueError`, which lists what is known, where no known action is named. An
    unknown creature is any creature: its looks come with the reference image.
    """
    sentence = read_sentence(prompt)
    action = sentence.action
    if action is TURN:
        raise ValueError(f"prompt {prompt!r}: say 'turning left' or 'turning right'")
    if action is None or action.label not in tokens:
        known = ", ".join(name.replace("_", " ") for name in ACTION_LABELS if name in tokens)
        verb = None if action is not None else probable_verb(sentence)
        meant = f"did you mean {verb!r}? " if verb else ""
        raise ValueError(
            f"prompt {prompt!r}: {meant}the tiny prior knows no such action; it knows {known}. "
            f"Other actions need a large prior (`akd prior list`)"
        )
    manner = sentence.manners[0].label if sentence.manners else action.manner or NONE
    return Words(_find_creature(sentence.words), action.label, manner)
