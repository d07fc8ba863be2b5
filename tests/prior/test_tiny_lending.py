"""Motion lent to artists' characters: what is offered, and what they take."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from akd.base.splits import asset_trains, zoo_seed_trains
from akd.motion.library import LibraryClip
from akd.prior.tiny.artists import artist_actor, find_files
from akd.prior.tiny.casting import cast_artists
from akd.prior.tiny.lending import lend_clips, load_zoo_clip, zoo_clips
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import PoolSettings


def clip(name: str, action: str, legs: int | None = 2) -> LibraryClip:
    def load():
        raise AssertionError("offering clips must not read them")

    return LibraryClip(name, action, trains=True, load=load, legs=legs)


MOCAP = [clip(f"{k}.bvh", "walk") for k in range(40)] + [clip("90.bvh", "punch")]
ARTISTS = [clip(f"{file}.glb:{action}", action, None)
           for file in "abc" for action in ("walk", "run", "attack")]  # fmt: skip


def test_zoo_mocap_and_files_are_offered_once_each():
    found = lend_clips(MOCAP, ARTISTS, count=48, evenness=0.5, rng=np.random.default_rng(1))
    assert len(found) == 48
    assert len({one.name for one in found}) == 48
    kinds = Counter(one.file.rpartition(".")[2] if "." in one.file else "zoo" for one in found)
    assert kinds["bvh"] >= 8
    assert kinds["glb"] == 9
    assert kinds["zoo"] >= 8


def test_evenness_offers_rare_actions_sooner():
    def punches(evenness: float) -> int:
        return sum(
            any(one.action == "punch" for one in lend_clips(
                MOCAP, [], count=6, evenness=evenness, rng=np.random.default_rng(seed)
            ))
            for seed in range(60)
        )  # fmt: skip

    assert punches(1.0) > 2 * punches(0.0)


def test_without_recordings_the_zoo_lends():
    found = lend_clips([], [], count=20, evenness=0.5, rng=np.random.default_rng(0))
    assert found
    assert all(one.trains and zoo_seed_trains(int(one.file.split()[1])) for one in found)


def test_a_creature_lends_what_it_does():
    rng = np.random.default_rng(3)
    offered = zoo_clips(rng)
    assert len({one.file for one in offered}) == 1
    walks = load_zoo_clip("fox", 1000, "walk")[1]
    assert walks.duration > 0.5


@pytest.mark.slow
def test_a_file_performs_clips_of_bodies_like_it(shared_assets):
    path = shared_assets / "kaykit/Rogue_Hooded.glb"
    assert asset_trains(path.relative_to(shared_assets).as_posix())
    pool = PoolSettings(splats=200, lent_clips=4)
    alone = artist_actor(path, pool)
    lent = (
        clip("x:walk", "walk", legs=4),  # never read: another plan
        *(LibraryClip(f"{s} {a}", a, True, lambda s=s, a=a: load_zoo_clip(s, 1000, a), legs=None)
          for s, a in (("fox", "walk"), ("man", "walk"), ("man", "wave"), ("man", "run"))),
    )  # fmt: skip
    actor = artist_actor(path, pool, lent, most=2)
    assert actor is not None
    own = 0 if alone is None else len(alone.actions)
    assert actor.actions[own:] == ("walk", "wave")
    assert actor.is_artists
    travels = actor.clips[own, :, actor.root, :3, 3]
    assert float((travels[-1] - travels[0]).norm()) > actor.height


def test_only_the_training_side_is_lent_to_and_lends(shared_assets, tmp_path):
    for name in ("kaykit/Rogue_Hooded.glb", "quaternius/animals_pack/Deer.glb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(shared_assets / name)
    pool = PoolSettings(lent_clips=3)
    cast = cast_artists(Recordings(tmp_path), pool)
    assert [one.name for one in cast] == [
        p.relative_to(tmp_path).as_posix() for p in find_files(tmp_path, training=True)
    ]
    assert all(one.clips for one in cast)
    assert cast[0].path(tmp_path, pool) != cast[0].path(tmp_path, replace(pool, lent_clips=4))
    assert all(not one.clips for one in cast_artists(Recordings(tmp_path), pool, training=False))
