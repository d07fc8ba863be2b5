"""The table of actions: the words for them, how fast they are, how the legs move. No torch here.

Starting speeds, the tiny prior, the recognisers and the metrics all read sentences by this table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal


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
    alternates: Literal["always", "on two legs", "never"] = "always"
    """Whether a left leg does what the right one did half a cycle before."""
    one_off: bool = False
    """It has a beginning and an end: a jump."""
    turn: int = 0
    """1 where the path bends to the left, -1 to the right."""

    @property
    def label(self) -> str:
        """Its class for the tiny prior and the recognisers."""
        return self.kind or self.name

    @property
    def is_cyclic(self) -> bool:
        """Whether it is a gait: strides that repeat."""
        return self.froude > 0.0 and not self.one_off

    def alternates_on(self, legs: int) -> bool:
        """Whether left and right legs alternate on a body with so many legs."""
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


TURN = Action("turn", 0.12)
"""A turn to a side that is not said. It has no class of its own."""
ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        action.name: action
        for action in (
            Action("stand", 0.0, ("stand", "idle", "still", "breathe", "wait"), alternates="never"),
            Action("walk", 0.16, ("walk", "stride", "march", "wander")),
            Action("stroll", 0.12, kind="walk"),
            Action("sneak", 0.05, kind="walk", manner="crouching"),
            Action("amble", 0.3),
            Action("trot", 0.7),
            Action("jog", 0.8, kind="trot"),
            Action("gallop", 2.5, alternates="never"),
            Action("canter", 1.8, kind="gallop", alternates="never"),
            # What runs on four legs gallops.
            Action("run", 1.5, ("run", "dash", "race"), alternates="on two legs"),
            Action("sprint", 3.0, kind="run", alternates="on two legs"),
            Action("jump", 0.5, ("jump", "bound"), alternates="never", one_off=True),
            Action("leap", 0.8, kind="jump", alternates="never", one_off=True),
            Action("hop", 0.4, kind="jump", alternates="never", one_off=True),
            replace(TURN, name="turn_left", turn=1),
            replace(TURN, name="turn_right", turn=-1),
        )
    }
)
"""Every action by name. Trained weights depend on the order of the labels."""
MANNERS: tuple[Manner, ...] = (
    Manner("slowly", ("slowly", "slow", "leisurely", "calmly"), pace=0.6),
    Manner("quickly", ("quickly", "quick", "fast", "rapidly"), pace=1.4),
    Manner("briskly", ("briskly",), pace=1.3, kind="quickly"),
    Manner("crouching", ("crouching", "sneaking", "stealthily", "low", "crouched")),
    Manner("prancing", ("prancing", "high-stepping", "proudly")),
    Manner("swaying", ("swaying", "swaggering")),
    Manner("high", ("high", "far")),
)
"""Every manner. Trained weights depend on the order of these labels too."""
ACTION_LABELS: tuple[str, ...] = tuple(dict.fromkeys(a.label for a in ACTIONS.values()))
MANNER_LABELS: tuple[str, ...] = tuple(dict.fromkeys(m.label for m in MANNERS))


def _verb_forms(verb: str) -> tuple[str, ...]:
    """A verb as sentences use it: `trot`, `trots`, `trotting`, `trotted`."""
    stem = verb
    if verb.endswith("e"):
        stem = verb[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):  # one short syllable
        stem = verb + verb[-1]
    ending = "es" if verb.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return verb, verb + ending, stem + "ing", stem + "ed"


_IRREGULAR = {"ran": "run", "stood": "stand", "strode": "stride", "leapt": "leap"}
_ACTION_OF = {
    form: action
    for action in (*(a for a in ACTIONS.values() if not a.turn), TURN)
    for verb in action.verbs or (action.name,)
    for form in _verb_forms(verb)
}
_ACTION_OF |= {past: _ACTION_OF[verb] for past, verb in _IRREGULAR.items()}
_MANNER_OF = {word: manner for manner in MANNERS for word in manner.words}


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and what of them says how a body moves."""

    words: tuple[str, ...]
    """In lower case. A compound with hyphens is followed by its last part, which is its head."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Actions in the order in which they are named."""
        return tuple(_ACTION_OF[word] for word in self.words if word in _ACTION_OF)

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


def read_sentence(sentence: str) -> Sentence:
    """Read a prompt. Never fails: what is not in the tables is passed over."""
    said = re.findall(r"[a-z]+(?:-[a-z]+)*", sentence.lower().replace("t-rex", "trex"))
    return Sentence(
        tuple(word for token in said for word in dict.fromkeys((token, token.split("-")[-1])))
    )


def action_label(sentence: str) -> str | None:
    """Class of the action that a sentence asks for; None where it names none of `ACTIONS`."""
    action = read_sentence(sentence).action
    return None if action is None or action is TURN else action.label
