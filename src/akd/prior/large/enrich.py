"""Prompts in the words that large video models were trained on.

They were trained on long descriptions of whole scenes. "a fox walking" leaves view, ground, framing
and style open, and a gradient that may pull anywhere pulls the character apart. The words added
here describe what our renderer shows anyway; the supplement of the paper calls such words crucial
for humans. The result is shown to the user, who may write it instead. No torch is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Enrichment:
    """Sentences added to a prompt; an empty one is left out."""

    framing: str = "The full body is visible from head to feet, in the centre of the frame"
    view: str = "seen from the side"
    ground: str = "on a flat checkerboard floor with a soft shadow below"
    background: str = "in front of a plain, pale background"
    camera: str = "The camera follows at a constant distance"
    style: str = "A clean 3D animation with natural, physically plausible motion"


def enrich(prompt: str, words: Enrichment | None = None) -> str:
    """The prompt followed by view, ground, framing and style, as one paragraph.

    A prompt that is a description already (40 words or more) comes back as it is.
    """
    prompt = " ".join(prompt.split())
    if not prompt:
        raise ValueError("a prompt must have words, got an empty one")
    if len(prompt.split()) >= 40:
        return prompt
    words = words or Enrichment()
    subject = prompt[0].upper() + prompt[1:].rstrip(".!")
    place = ", ".join(part for part in (words.view, words.ground, words.background) if part)
    sentences = [
        f"{subject}, {place}" if place else subject,
        words.framing,
        words.camera,
        words.style,
    ]
    return " ".join(f"{sentence.rstrip('.')}." for sentence in sentences if sentence)
