"""The table of actions: the words for them, how fast they are, how the legs move. No torch here.

Starting speeds, the tiny prior, the recognisers and the metrics all read sentences by this table.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, get_args

Body = Literal["biped", "quadruped", "many-legged", "winged", "finned", "legless"]
Medium = Literal["ground", "air", "water"]
_LEGS = ("biped", "quadruped", "winged")


@dataclass(frozen=True)
class Action:
    """Something that a character can be asked to do."""

    name: str
    froude: float
    """Natural Froude number v^2 / (g L), L the leg length; 0 for what stays in its place."""
    verbs: tuple[str, ...] = ()
    """Infinitives that name it; by default its name."""
    kind: str | None = None
    """Broader action as which the tiny prior and the recognisers know it, where it is finer than
    their classes."""
    manner: str | None = None
    """Manner in which it is that broader action."""
    alternates: Literal["always", "on two legs", "never", "at once"] = "always"
    """Whether a left leg does what the right one did half a cycle before; without legs, whether the
    body bends to the left as it did to the right. `at once`: both sides beat together."""
    one_off: bool = False
    """It has a beginning and an end: a jump."""
    bodies: tuple[Body, ...] = ("biped", "quadruped", "many-legged", "winged")
    """Body plans that do it. A winged body is one with wings besides its legs."""
    turn: int = 0
    """1 where the path bends to the left, -1 to the right."""
    sideways: bool = False
    """Crabs travel to a side in it: bodies with pincers beside more than four legs."""
    goes_down: bool = False
    """The trunk leaves its height: it sits or lies down, bends down to the ground, or gets up."""
    medium: Medium = "ground"
    """What carries the body."""
    stride: float | None = None
    """Leg lengths that a cycle covers, where it is no stride of legs: a wing beat, a tail beat. A
    body without legs has a quarter of its length for one."""

    @property
    def needs_feet(self) -> bool:
        """Whether only bodies with legs do it, standing on them."""
        footless = ("finned", "legless")
        return self.medium == "ground" and not any(body in self.bodies for body in footless)

    @property
    def label(self) -> str:
        """Its class for the tiny prior and the recognisers."""
        return self.kind or self.name

    @property
    def participle(self) -> str:
        """How a sentence says it: `walking`, `lying down`, `turning left`."""
        verb = self.verbs[0] if self.verbs else self.name.replace("_", " ")
        return _verb_forms(verb)[2]

    @property
    def is_cyclic(self) -> bool:
        """Whether it is a gait: strides, wing beats or tail beats that repeat."""
        return self.froude > 0.0 and not self.one_off

    @property
    def is_walk(self) -> bool:
        """Whether it is a gait that no animal does as a run."""
        return self.is_cyclic and self.froude <= FASTEST_WALK

    @property
    def leaves_ground(self) -> bool:
        """Whether all feet are off the ground at times: gravity keeps no foot down above a Froude
        number of 1."""
        return self.froude > 1.0 or (self.one_off and self.froude > 0.0)

    def alternates_on(self, legs: int) -> bool:
        """Whether left and right legs alternate on a body with this number of legs."""
        return self.alternates == "always" or (self.alternates == "on two legs" and legs == 2)


@dataclass(frozen=True)
class Manner:
    """How something is done."""

    name: str
    words: tuple[str, ...]
    pace: float = 1.0
    """Factor on the speed."""
    kind: str | None = None
    """As for `Action`."""

    @property
    def label(self) -> str:
        """Its class for the tiny prior."""
        return self.kind or self.name


FASTEST_WALK = 0.5
"""Froude number at which animals of all sizes break into a run (Alexander 1989)."""
TURN = Action("turn", 0.12)
"""A turn to a side that is not said. It has no class of its own."""
_IN_PLACE: tuple[tuple[str, tuple[str, ...], bool, tuple[Body, ...]], ...] = (
    ("sit_down", ("sit", "sit down"), True, ("biped", "quadruped")),
    ("lie_down", ("lie down", "lay down"), True, ("biped", "quadruped")),
    ("get_up", ("get up", "stand up", "rise"), True, ("biped", "quadruped")),
    ("eat", ("eat", "graze", "feed"), False, _LEGS),
    ("drink", ("drink",), False, _LEGS),
    ("look_around", ("look around", "look about"), False, (*_LEGS, "legless")),
    ("shake", ("shake", "shiver"), True, _LEGS),
    ("roar", ("roar", "howl", "growl", "bellow"), True, _LEGS),
    ("attack", ("attack", "bite", "strike"), True, ("biped", "quadruped", "many-legged", "winged",
                                                    "legless")),
    ("headbutt", ("headbutt",), True, ("biped", "quadruped")),
    ("kick", ("kick", "buck"), True, ("biped", "quadruped")),
    ("punch", ("punch",), True, ("biped",)),
    ("throw", ("throw", "toss"), True, ("biped",)),
    ("pick_up", ("pick up",), True, ("biped",)),
    ("wave", ("wave", "greet"), False, ("biped",)),
    ("cheer", ("cheer", "celebrate"), False, ("biped",)),
    ("dance", ("dance", "groove"), False, ("biped",)),
    ("jig", ("jig",), False, ("biped",)),
    ("twist", ("twist",), False, ("biped",)),
    ("roll", ("roll", "roll over"), True, ("biped", "quadruped")),
)  # fmt: skip
"""Actions that stay in their place: name, verbs, whether they have an end, and which bodies."""
_DANCES = ("jig", "twist")
"""Kinds of dance, which are one class."""
_DOWN = ("sit_down", "lie_down", "get_up", "pick_up", "roll")
"""Actions that bring the trunk down."""
ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        action.name: action
        for action in (
            Action(
                "stand",
                0.0,
                ("stand", "idle", "still", "breathe", "wait"),
                alternates="never",
                bodies=get_args(Body),
            ),
            Action("walk", 0.16, ("walk", "stride", "wander")),
            Action("stroll", 0.12, kind="walk"),
            Action("march", 0.16, kind="walk", bodies=("biped",)),
            Action(
                "sneak",
                0.05,
                ("sneak", "prowl", "stalk", "tiptoe"),
                kind="walk",
                manner="crouching",
                bodies=_LEGS,
            ),
            Action("amble", 0.3, bodies=("quadruped",)),
            Action("trot", 0.7, bodies=("quadruped",)),
            Action("jog", 0.8, kind="trot", bodies=("biped", "quadruped")),
            Action("gallop", 2.5, alternates="never", bodies=("quadruped",)),
            Action("canter", 1.8, kind="gallop", alternates="never", bodies=("quadruped",)),
            # What runs on four legs gallops.
            Action("run", 1.5, ("run", "dash", "race"), alternates="on two legs", bodies=_LEGS),
            Action("sprint", 3.0, kind="run", alternates="on two legs", bodies=_LEGS),
            Action("jump", 0.5, ("jump", "bound"), alternates="never", one_off=True, bodies=_LEGS),
            Action("leap", 0.8, kind="jump", alternates="never", one_off=True, bodies=_LEGS),
            Action("hop", 0.4, kind="jump", alternates="never", one_off=True, bodies=_LEGS),
            replace(TURN, name="turn_left", turn=1),
            replace(TURN, name="turn_right", turn=-1),
            Action(
                "back_up",
                0.04,
                ("back up", "back away", "walk backwards", "step backwards"),
                bodies=_LEGS,
            ),
            Action("limp", 0.06, ("limp", "hobble"), bodies=_LEGS),
            Action("crawl", 0.02, ("crawl",), bodies=("biped", "quadruped")),
            Action("scuttle", 0.45, ("scuttle", "scurry"), bodies=("many-legged",), sideways=True),
            Action(
                "fly",
                66.0,
                ("fly", "flap"),
                alternates="at once",
                bodies=("winged",),
                medium="air",
                stride=11.0,
            ),
            Action(
                "glide",
                66.0,
                ("glide", "soar"),
                alternates="never",
                bodies=("winged",),
                medium="air",
                stride=65.0,
            ),
            Action("swim", 0.2, bodies=("finned",), medium="water", stride=2.4),
            Action("slither", 0.08, ("slither", "undulate"), bodies=("legless",), stride=1.8),
            *(
                Action(
                    name,
                    0.0,
                    verbs,
                    kind="dance" if name in _DANCES else None,
                    alternates="never",
                    one_off=one_off,
                    bodies=bodies,
                    goes_down=name in _DOWN,
                )
                for name, verbs, one_off, bodies in _IN_PLACE
            ),
        )
    }
)
"""Every action by name."""
MANNERS: tuple[Manner, ...] = (
    Manner("slowly", ("slowly", "slow", "leisurely", "calmly"), pace=0.6),
    Manner("quickly", ("quickly", "quick", "fast", "rapidly"), pace=1.4),
    Manner("briskly", ("briskly",), pace=1.3, kind="quickly"),
    Manner("crouching", ("crouching", "sneaking", "stealthily", "low", "crouched")),
    Manner("prancing", ("prancing", "high-stepping", "proudly")),
    Manner("swaying", ("swaying", "swaggering")),
    Manner("high", ("high", "far")),
)
"""Every manner."""
ACTION_LABELS: tuple[str, ...] = tuple(dict.fromkeys(a.label for a in ACTIONS.values()))
"""Classes of priors and recognisers that are trained now. Weights bring those that they know."""
MANNER_LABELS: tuple[str, ...] = tuple(dict.fromkeys(m.label for m in MANNERS))


def _verb_forms(verb: str) -> tuple[str, ...]:
    """A verb as sentences use it: `trot`, `trots`, `trotting`, `trotted`; `gets up`."""
    verb, *particle = verb.split()
    if verb in _WHOLE:
        forms = (verb, *_WHOLE[verb])
    else:
        stem = verb
        if verb.endswith("e"):
            stem = verb[:-1]
        elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):  # one short syllable
            stem = verb + verb[-1]
        ending = "es" if verb.endswith(("s", "x", "z", "ch", "sh")) else "s"
        forms = (verb, verb + ending, stem + "ing", stem + "ed")
    return tuple(" ".join((form, *particle)) for form in forms)


_WHOLE = {
    "run": ("runs", "running", "ran"),
    "stand": ("stands", "standing", "stood"),
    "stride": ("strides", "striding", "strode"),
    "leap": ("leaps", "leaping", "leaped", "leapt"),
    "fly": ("flies", "flying", "flew"),
    "swim": ("swims", "swimming", "swam"),
    "sit": ("sits", "sitting", "sat"),
    "lie": ("lies", "lying"),
    "lay": ("lays", "laying"),
    "get": ("gets", "getting", "got"),
    "rise": ("rises", "rising", "rose"),
    "eat": ("eats", "eating", "ate"),
    "feed": ("feeds", "feeding", "fed"),
    "drink": ("drinks", "drinking", "drank"),
    "bite": ("bites", "biting", "bit"),
    "strike": ("strikes", "striking", "struck"),
    "shake": ("shakes", "shaking", "shook"),
    "throw": ("throws", "throwing", "threw"),
}
"""Verbs whose forms do not follow the rule."""
_ACTION_OF = {
    form: action
    for action in (*(a for a in ACTIONS.values() if not a.turn), TURN)
    for verb in action.verbs or (action.name,)
    for form in _verb_forms(verb)
}
_MANNER_OF = {word: manner for manner in MANNERS for word in manner.words}


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and what of them says how a body moves."""

    words: tuple[str, ...]
    """In lower case. A compound with hyphens is followed by its last part, which is its head, but
    for what something feeds on, as in `man-eating`."""

    @property
    def named(self) -> tuple[tuple[Action, tuple[str, ...]], ...]:
        """Actions in the order in which they are named, each with the words that name it."""
        found, skip = [], False
        for word, after in pairwise((*self.words, "")):
            # A verb with its particle goes before the verb alone: `stands up` is no standing.
            pair = _ACTION_OF.get(f"{word} {after}")
            if pair:
                found.append((pair, (word, after)))
            elif word in _ACTION_OF and not skip:
                found.append((_ACTION_OF[word], (word,)))
            skip = pair is not None
        return tuple(found)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Actions in the order in which they are named."""
        return tuple(action for action, _ in self.named)

    @property
    def gait(self) -> Action | None:
        """The action that is named first: how the legs move, whether or not the path bends."""
        return next(iter(self.actions), None)

    @property
    def action(self) -> Action | None:
        """What is asked for: a turn where one is named, else the gait."""
        if TURN not in self.actions:
            return self.gait
        sides = [side for side in ("left", "right") if side in self.words]
        return ACTIONS[f"turn_{sides[0]}"] if len(sides) == 1 else TURN

    @property
    def manners(self) -> tuple[Manner, ...]:
        """Manners in the order in which they are named."""
        return tuple(_MANNER_OF[word] for word in self.words if word in _MANNER_OF)

    @property
    def pace(self) -> float:
        """Factor on the natural speed of the gait."""
        return next((m.pace for m in self.manners if m.pace != 1.0), 1.0)

    @property
    def walks(self) -> bool:
        """Whether the gait is a walk over the ground: slower than animals break into a run."""
        gait = self.gait
        if gait is None or not gait.is_cyclic or gait.medium != "ground":
            return False
        return gait.froude * self.pace**2 <= FASTEST_WALK


def probable_verb(sentence: Sentence) -> str | None:
    """The form of a known verb that a word of a sentence is a typing error of; None for none."""
    for word in sentence.words:
        if close := difflib.get_close_matches(word, _ACTION_OF, n=1, cutoff=0.85):
            return close[0]
    return None


def read_sentence(sentence: str) -> Sentence:
    """Read a prompt. Never fails: what is not in the tables is passed over."""
    said = re.findall(r"[a-z]+(?:-[a-z]+)*", sentence.lower().replace("t-rex", "trex"))
    return Sentence(
        tuple(
            word
            for token in said
            for word in dict.fromkeys((token, token.split("-")[-1]))
            if word == token or word != "eating"
        )
    )


def action_label(sentence: str) -> str | None:
    """Class of the action that a sentence asks for; None where it is none of `ACTION_LABELS`."""
    action = read_sentence(sentence).action
    return action.label if action is not None and action.label in ACTION_LABELS else None
