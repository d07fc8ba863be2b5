"""The A/B study: pairs, the form, votes and the tally."""

import re
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from akd.commands.blind_server import BlindServer
from akd.report.blind import (
    QUESTIONS,
    Pair,
    Vote,
    blind_page,
    make_pairs,
    read_form,
    read_votes,
    tally,
    vote_lines,
)

PROMPTS = {
    "ours/fox": "a fox walking", "ours/cow": "a cow walking",
    "theirs/fox": "A fox walking ", "theirs/cow": "a cow walking",
}  # fmt: skip
METHODS = {name: name.split("/")[0] for name in PROMPTS}


def filled_in(pairs: list[Pair], chosen: str = "a") -> dict[str, list[str]]:
    fields = {"person": ["Ada  L."]}
    for number in range(len(pairs)):
        for question in QUESTIONS:
            fields[f"{number}.{question}"] = [chosen]
    return fields


def test_pairs_share_a_prompt_and_change_sides():
    pairs = make_pairs(PROMPTS, seed=0)
    assert {frozenset((p.left, p.right)) for p in pairs} == {
        frozenset(("ours/fox", "theirs/fox")), frozenset(("ours/cow", "theirs/cow"))
    }  # fmt: skip
    assert make_pairs(PROMPTS, seed=0) == pairs
    sides = {p.left for seed in range(8) for p in make_pairs(PROMPTS, seed=seed)}
    assert sides == set(PROMPTS)


def test_the_page_asks_three_questions_of_each_pair_and_names_nobody(tmp_path):
    pairs = make_pairs(PROMPTS, seed=0)
    videos = {}
    for name in PROMPTS:
        videos[name] = tmp_path / f"{name.replace('/', '_')}.mp4"
        videos[name].write_bytes(name.encode() * 9)
    text = blind_page(pairs, videos)
    assert text.count("<video ") == 4
    names = set(re.findall(r'type="radio" name="([^"]+)"', text))
    assert names == {f"{n}.{q}" for n in (0, 1) for q in QUESTIONS}
    assert "ours" not in text
    assert "theirs" not in text


def test_a_form_becomes_votes_that_can_be_read_again(tmp_path):
    pairs = make_pairs(PROMPTS, seed=0)
    votes = read_form(filled_in(pairs), pairs)
    assert len(votes) == 6
    assert votes[0] == Vote("Ada L.", 0, "motion_amount", "a")
    path = tmp_path / "votes.jsonl"
    path.write_text(vote_lines(votes))
    assert read_votes(path) == votes
    for line in ("{}", "[" * 100_000, vote_lines(votes[:1]).replace("0", '"0"')):
        path.write_text(vote_lines(votes) + line)
        with pytest.raises(ValueError, match=r"votes.jsonl, line 7: is not a vote"):
            read_votes(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"votes.jsonl: must be UTF-8"):
        read_votes(path)


def test_a_form_that_is_not_filled_in_is_refused():
    pairs = make_pairs(PROMPTS, seed=0)
    fields = filled_in(pairs)
    del fields["1.plausibility"]
    with pytest.raises(ValueError, match="pair 2: the answer to plausibility is missing"):
        read_form(fields, pairs)
    with pytest.raises(ValueError, match="the name is missing"):
        read_form({**filled_in(pairs), "person": [" "]}, pairs)


def test_the_tally_counts_each_person_once_whatever_the_side():
    pairs = [Pair("a fox walking", "ours/fox", "theirs/fox"),
             Pair("a cow walking", "theirs/cow", "ours/cow")]  # fmt: skip
    votes = [
        Vote("ada", 0, "plausibility", "b"),
        Vote("ada", 0, "plausibility", "a"),  # changed her mind
        Vote("ada", 1, "plausibility", "b"),
        Vote("bob", 0, "plausibility", "b"),
    ]
    found = tally(votes, pairs, METHODS)
    assert found["plausibility"] == {"ours": (2, 3), "theirs": (1, 3)}
    assert found["motion_amount"] == {}
    same = dict.fromkeys(METHODS, "one")
    assert tally(votes, pairs, same)["plausibility"] == {}


def test_votes_are_taken_from_the_own_page_alone(tmp_path):
    pairs = make_pairs({"a": "walk", "b": "walk"}, seed=0)
    server = BlindServer("<!doctype html>", pairs, tmp_path / "votes.jsonl")
    Thread(target=server.serve_forever, daemon=True).start()
    body = urlencode(filled_in(pairs), doseq=True).encode()
    own = server.address.rstrip("/")
    try:
        for origin, code in (("http://elsewhere.example", 403), ("null", 403), (own, 200)):
            asked = Request(f"{own}/votes", body, {"Origin": origin})
            if code == 200:
                with urlopen(asked) as answer:
                    assert answer.status == code
            else:
                with pytest.raises(HTTPError) as caught:
                    urlopen(asked)
                caught.value.close()
                assert caught.value.code == code
                assert not (tmp_path / "votes.jsonl").exists()
    finally:
        server.shutdown()
        server.server_close()
    assert (tmp_path / "votes.jsonl").exists()
