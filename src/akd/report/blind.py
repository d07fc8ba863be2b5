"""The A/B study of the paper: pairs of videos without names, three questions, votes and a tally."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from akd.base.files import json_hash
from akd.report.page import Film, films, header, page

QUESTIONS: dict[str, str] = {
    "motion_amount": "Which one moves more?",
    "plausibility": "Which one moves more as a real body would?",
    "text_alignment": "Which one shows better what the words say?",
}
"""Motion amount, physical plausibility and text alignment (MA, PP, TA in the paper)."""


@dataclass(frozen=True)
class Pair:
    """Two videos of the same words. Who is who is only in the key."""

    prompt: str
    left: str
    """Name of the entry shown as A."""
    right: str


@dataclass(frozen=True)
class Vote:
    """One answer of one person."""

    person: str
    pair: int
    question: str
    """One of `QUESTIONS`."""
    chosen: str
    """`a` or `b`."""


def make_pairs(prompts: Mapping[str, str], *, seed: int) -> list[Pair]:
    """Every two entries that have the same prompt, in random order and on random sides.

    `prompts` are the entries' prompts by their name.
    """
    names = list(prompts)
    pairs = [
        Pair(prompts[a], a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if prompts[a].strip().lower() == prompts[b].strip().lower()
    ]
    chance = random.Random(seed)
    chance.shuffle(pairs)
    return [p if chance.random() < 0.5 else Pair(p.prompt, p.right, p.left) for p in pairs]


def blind_page(pairs: Sequence[Pair], videos: Mapping[str, Path]) -> str:
    """A form with every pair; it is sent to `/votes` of where it comes from.

    Scripts show one pair at a time, run its videos in step and take keys; without them the form is
    one long page. Opened from the disk, it hands the votes over as a file.
    """
    study = json_hash([asdict(pair) for pair in pairs])[:12]
    parts = [
        header("Which motion is better?", above="a comparison of videos"),
        "<p>Watch both videos of a pair as often as you like, then choose one for each question."
        "</p>",
        '<p class="about keys" hidden>Keys: <kbd>A</kbd> and <kbd>B</kbd> answer, '
        "<kbd>Backspace</kbd> takes the last answer back, <kbd>Enter</kbd> goes on, "
        "<kbd>Space</kbd> plays and pauses, <kbd>←</kbd> <kbd>→</kbd> step by a frame.</p>",
        f'<form method="post" action="/votes" data-study="{study}">',
        '<p><label>Your name or a nickname<br><input class="field" name="person" required '
        'maxlength="80" autocomplete="nickname"></label></p>',
    ]
    for number, pair in enumerate(pairs):
        shown = films([Film(videos[pair.left], "A"), Film(videos[pair.right], "B")])
        parts.append(
            f'<fieldset class="pair"><legend><span class="about">{number + 1} of {len(pairs)}'
            f"</span><b>{escape(pair.prompt)}</b></legend>{shown}"
        )
        parts += [_question(number, question, words) for question, words in QUESTIONS.items()]
        parts.append("</fieldset>")
    parts.append('<p><button class="act" type="submit">Send</button></p></form>')
    return page("Which motion is better?", "\n".join(parts), scripts=("films.js", "blind.js"))


def _question(pair: int, question: str, words: str) -> str:
    choices = "".join(
        f'<label><input type="radio" name="{pair}.{question}" value="{choice}" required '
        f'aria-label="{choice.upper()}: {escape(words, quote=True)}">{choice.upper()}</label>'
        for choice in "ab"
    )
    return (
        f'<div class="question"><span>{escape(words)}</span>'
        f'<span class="choices">{choices}</span></div>'
    )


def thanks_page() -> str:
    """The page that confirms saved votes."""
    return page("Thank you", f"{header('Thank you')}<p>Your choices are saved.</p>")


def read_form(fields: Mapping[str, Sequence[str]], pairs: Sequence[Pair]) -> list[Vote]:
    """The votes in a form. Raises `ValueError` where it is not filled in."""
    person = " ".join((fields.get("person") or [""])[0].split())[:80]
    if not person:
        raise ValueError("the name is missing")
    votes = []
    for number in range(len(pairs)):
        for question in QUESTIONS:
            chosen = (fields.get(f"{number}.{question}") or [""])[0]
            if chosen not in ("a", "b"):
                raise ValueError(f"pair {number + 1}: the answer to {question} is missing")
            votes.append(Vote(person, number, question, chosen))
    return votes


def vote_lines(votes: Iterable[Vote]) -> str:
    """Votes as JSON, one a line."""
    return "".join(json.dumps(asdict(vote)) + "\n" for vote in votes)


def read_votes(path: Path) -> list[Vote]:
    """Votes from a file of such lines. Raises `ValueError` where one is broken."""
    votes = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: must be UTF-8") from None
    for number, line in enumerate(lines, start=1):
        try:
            votes.append(_vote(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number}: is not a vote ({error})") from None
    return votes


def _vote(values: object) -> Vote:
    match values:
        case {
            "person": str(person), "pair": int(pair), "question": str(question),
            "chosen": "a" | "b" as chosen,
        } if question in QUESTIONS:  # fmt: skip
            return Vote(person, pair, question, chosen)
    raise ValueError("person, pair, question and chosen are needed")


def tally(
    votes: Sequence[Vote], pairs: Sequence[Pair], methods: Mapping[str, str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """For each question and method: how often it was chosen, of how often it could have been.

    `methods` says which method made an entry; pairs of one method with itself do not count. A
    person who votes twice on a pair counts once, with the last vote.
    """
    last = {(v.person, v.pair, v.question): v for v in votes if 0 <= v.pair < len(pairs)}
    counts: dict[str, dict[str, list[int]]] = {question: {} for question in QUESTIONS}
    for vote in last.values():
        pair = pairs[vote.pair]
        left, right = methods[pair.left], methods[pair.right]
        if left == right:
            continue
        winner = left if vote.chosen == "a" else right
        for method in (left, right):
            count = counts[vote.question].setdefault(method, [0, 0])
            count[0] += method == winner
            count[1] += 1
    return {
        question: {method: (won, all_) for method, (won, all_) in sorted(found.items())}
        for question, found in counts.items()
    }
