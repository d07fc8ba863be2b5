"""The card of the tiny prior: what it was made from, by what command, and how good it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from akd.base.files import write_text

_FOLDERS = {"--assets": "ASSETS", "--mocap": "MOCAP", "--out": "OUT", "--start": "WEIGHTS"}


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.is_file() else {}


def _percent(value: float | None) -> str:
    return "not measured" if value is None else f"{100.0 * value:.1f} %"


def _table(scores: dict[str, float]) -> str:
    rows = "\n".join(f"| {name.replace('_', ' ')} | {_percent(v)} |" for name, v in scores.items())
    return f"| action | right |\n| --- | --- |\n{rows}\n" if rows else ""


def _artists(names: list[str]) -> str:
    if not names:
        return ""
    return f"; {len(names)} characters of artists with their own clips: {', '.join(names)}"


def _command(text: str) -> str:
    """The command without the folders of the machine that it ran on."""
    words = text.split()
    for k, word in enumerate(words[:-1]):
        words[k + 1] = _FOLDERS.get(word, words[k + 1])
    return " ".join(words)


def asset_lines(evaluation: dict[str, Any]) -> list[str]:
    """Lines about real characters, from `evaluation-assets.json`."""
    if not evaluation:
        return ["Characters of artists: not measured."]
    scores, true = evaluation["b"], evaluation["true_clips"]["b"]
    c = evaluation.get("c")
    beside = "" if c is None else f", recogniser C in {_percent(c['all'])}"
    lines = [
        f"{len(evaluation['subjects'])} characters of artists on the measuring side, two prompts "
        f"each ({evaluation['prompts']} in all), guidance {evaluation['scale']}, "
        f"{evaluation['steps']} steps, an image of the character and the word of the action: "
        f"recogniser B names the asked action in **{_percent(scores['all'])}**{beside}. On "
        f"{true['videos']} videos of true clips of the same characters, those whose names say what "
        f"is done, B agrees with the name in {_percent(true['all'])}.",
        "",
        _table(scores["by_action"]),
        f"Characters: {', '.join(evaluation['subjects'])}.",
        "",
    ]
    seen = (("samples", scores["mistakes"]), ("true clips", true["mistakes"]))
    for what, mistakes in seen:
        said = [f"{mistake} ({count})" for mistake, count in mistakes.items()]
        lines.append(f"- Mistaken in {what}: {', '.join(said) or 'none'}.")
    return lines


def write_card(out: Path) -> Path:
    """Write `card.md` beside the weights, from what the commands have left in `out`.

    What has not been measured is said to be so.
    """
    training = _read(out / "training.json")
    evaluation = _read(out / "evaluation.json")
    on_assets = _read(out / "evaluation-assets.json")
    tiny, pool = training.get("tiny", {}), training.get("pool", {})
    scores = evaluation.get("b", {})
    lines = [
        "# PriorTiny",
        "",
        "A video diffusion model in pixels "
        f"({tiny.get('frames')} frames of {tiny.get('width')} x {tiny.get('height')}, each "
        f"{tiny.get('frame_time')} sqrt(leg length / g) long, x-prediction, "
        f"{training.get('weights', 0) / 1e6:.1f} M weights in half precision). It sees characters "
        "in the style `roles` only, and was trained with known frames.",
        "",
        "| | |",
        "| --- | --- |",
        f"| data | {training.get('creatures')} creatures of the zoo, seeds from "
        f"{training.get('first_seed')} (training side of `splits.toml`), all actions in "
        f"{pool.get('styles')} manners each, random cameras, proportions and girths"
        f"{_artists(training.get('artists', []))} |",
        f"| command | `{_command(training.get('command', 'akd prior train'))}` |",
        f"| seed | {training.get('seed')} |",
        f"| time | {training.get('minutes', 0.0):.1f} minutes in all on {training.get('device')}, "
        f"torch {training.get('torch')} |",
        f"| steps | {training.get('steps')}, {training.get('samples')} videos seen, last loss "
        f"{training.get('loss', float('nan')):.4f} |",
        f"| rendered by | our rasterizer, `{training.get('rasterizer')}` |",
        "",
        "## Scores",
        "",
        f"{evaluation.get('prompts', 0)} prompts over creatures of the measuring side, guidance "
        f"{evaluation.get('scale', '?')}, {evaluation.get('steps', '?')} steps: recogniser B, "
        f"which nothing is steered by, names the asked action in "
        f"**{_percent(scores.get('all'))}**, C, which never saw the zoo, in "
        f"{_percent(evaluation.get('c', {}).get('all'))}, and A, which steers, in "
        f"{_percent(evaluation.get('a', {}).get('all'))}.",
        "",
        _table(scores.get("by_action", {})),
        "The recognisers themselves, on true videos of unseen creatures and of unseen characters "
        "of artists:",
        "",
    ]
    for name in ("a", "b", "c"):
        scores = _read(out / f"recogniser-{name}.json")
        zoo, artists = (scores.get(side, {}).get("all") for side in ("zoo", "artists"))
        lines.append(f"- {name.upper()}: {_percent(zoo)} and {_percent(artists)}")
    lines += ["", "### On real characters", "", *asset_lines(on_assets)]
    mistakes = list(scores.get("mistakes", {}).items())[:8]
    lines += ["", "## Failures", ""]
    lines += [f"- {what}: {count}" for what, count in mistakes] or ["- none were counted"]
    lines += [
        "- It knows the actions that `akd prior list` shows for each body plan; nothing else. Open "
        "vocabulary needs a large prior.",
        "- Real characters differ from the zoo's in shape: see the scores on them above.",
        "",
    ]
    path = out / "weights" / "card.md"
    write_text(path, "\n".join(lines))
    return path
