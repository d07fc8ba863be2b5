"""The words that the tiny prior knows, and how a sentence is read. No torch here."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    "quadruped": ("quadruped", "animal", "beast"),
    "biped": ("biped",),
}
"""What a creature may be called. The last two are body plans; any other noun is a `creature`."""
ACTIONS: dict[str, tuple[str, ...]] = {
    "stand": ("stand", "idle", "still", "breathe", "wait"),
    "walk": ("walk", "stroll", "stride", "march", "wander"),
    "amble": ("amble",),
    "trot": ("trot", "jog"),
    "gallop": ("gallop", "canter"),
    "run": ("run", "sprint", "dash", "race"),
    "jump": ("jump", "leap", "hop", "bound"),
    "turn_left": ("turn left",),
    "turn_right": ("turn right",),
}
MANNERS: dict[str, tuple[str, ...]] = {
    "slowly": ("slowly", "slow", "leisurely", "calmly"),
    "quickly": ("quickly", "quick", "fast", "briskly", "rapidly"),
    "crouching": ("crouching", "sneaking", "stealthily", "low", "crouched"),
    "prancing": ("prancing", "high-stepping", "proudly"),
    "swaying": ("swaying", "swaggering"),
    "high": ("high", "far"),
}
NONE = "<none>"
"""Nothing was said, or nothing may be said."""
TOKENS: tuple[str, ...] = (NONE, *CREATURES, *ACTIONS, *MANNERS)
SLOTS = 3
"""A sentence is read as a creature, an action and a manner."""


@dataclass(frozen=True)
class Words:
    """A sentence as the tiny prior understands it; `<none>` where nothing was said."""

    creature: str = NONE
    action: str = NONE
    manner: str = NONE

    def __post_init__(self) -> None:
        known = ((self.creature, CREATURES), (self.action, ACTIONS), (self.manner, MANNERS))
        for word, words in known:
            if word != NONE and word not in words:
                raise ValueError(f"{word!r} is none of {', '.join(words)}")

    def tokens(self) -> tuple[int, int, int]:
        """Numbers of the words in `TOKENS`."""
        return (
            TOKENS.index(self.creature),
            TOKENS.index(self.action),
            TOKENS.index(self.manner),
        )

    def __str__(self) -> str:
        creature = "creature" if self.creature == NONE else self.creature
        manner = "" if self.manner == NONE else f" {self.manner}"
        return f"a {creature}, {self.action.replace('_', ' ')}{manner}"


def creature_word(species: str) -> str:
    """The word for a species of the zoo; `<none>` for one that has no word yet."""
    return _find([species], CREATURES)


def action_word(word: str) -> str:
    """The action that a word names; `<none>` for any other word."""
    return _find([word], ACTIONS)


def _stems(word: str) -> tuple[str, ...]:
    """A word and what it may be a form of: `running`, `runs`, `trotted`, `strolling`."""
    stems = [word]
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            root = word[: -len(ending)]
            stems += [root, root + "e"]
            if len(root) > 2 and root[-1] == root[-2]:
                stems.append(root[:-1])
    return tuple(stems)


def _find(said: list[str], table: dict[str, tuple[str, ...]]) -> str:
    for word in said:
        for stem in _stems(word):
            for name, forms in table.items():
                if stem in forms:
                    return name
    return NONE


def read_prompt(prompt: str) -> Words:
    """Creature, action and manner of a sentence.

    Raises `ValueError`, one line that lists what is known, where no known action is named. An
    unknown creature is any creature: its looks come with the reference picture.
    """
    said = re.findall(r"[a-z]+(?:-[a-z]+)*", prompt.lower().replace("t-rex", "trex"))
    action = _find(said, ACTIONS)
    verbs = {stem for word in said for stem in _stems(word)}
    if "turn" in verbs:
        sides = [side for side in ("left", "right") if side in said]
        if len(sides) != 1:
            raise ValueError(f"prompt {prompt!r}: say 'turning left' or 'turning right'")
        action = f"turn_{sides[0]}"
    if action == NONE:
        known = ", ".join(name.replace("_", " ") for name in ACTIONS)
        raise ValueError(
            f"prompt {prompt!r}: the tiny prior knows no such action; it knows {known}. "
            f"Other actions need a large prior (`akd prior list`)"
        )
    return Words(_find(said, CREATURES), action, _find(said, MANNERS))
