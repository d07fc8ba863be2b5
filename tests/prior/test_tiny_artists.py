"""Artists' characters as actors: which clips are certain, and where the body is in them."""

import pytest
import torch

from akd.base.splits import asset_trains
from akd.motion.clip_names import clip_action
from akd.prior.tiny.artists import artist_actor, find_files
from akd.prior.tiny.settings import PoolSettings
from akd.rig.skin import skin_points


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("Walk", "walk"),
        ("Fox_Walk_2", "walk"),
        ("Armature|Fox_Gallop", "gallop"),
        ("AnimalArmature|Idle", "stand"),
        ("walking", "walk"),
        ("Walk_Backwards", "back_up"),
        ("Sit_Floor_Down", "sit_down"),
        ("Attack_Kick", "kick"),
        ("PickUp_Table", "pick_up"),
        ("Jump_Loop", None),
        ("Run_Left", None),
        ("Idle_Attacking", None),
        ("Gallop_Jump", None),
        ("Jog", "trot"),
        ("Turn", None),
        ("WalkSlow", None),
        ("Death", None),
        ("", None),
    ],
)
def test_only_clips_whose_name_is_certain_have_an_action(name, action):
    found = clip_action(name, owner="Fox")
    assert (found and found.label) == action


def test_another_ones_name_is_a_word_like_any_other():
    assert clip_action("Fox_Walk", owner="Bull") is None


def test_the_sides_of_the_split_are_kept_apart(shared_assets):
    trains = find_files(shared_assets, training=True)
    measures = find_files(shared_assets, training=False)
    assert trains
    assert measures
    assert not set(trains) & set(measures)
    assert all(asset_trains(p.relative_to(shared_assets).as_posix()) for p in trains)


@pytest.fixture(scope="module")
def deer(shared_assets):
    path = shared_assets / "quaternius/animals_pack/Deer.glb"
    assert asset_trains(path.relative_to(shared_assets).as_posix())
    actor = artist_actor(path, PoolSettings(splats=400))
    assert actor is not None
    return actor


def surface(actor, bones: torch.Tensor) -> torch.Tensor:
    return skin_points(bones, actor.cloud.means, actor.cloud.bones, actor.cloud.weights)


def test_the_deer_walks_and_stands_on_four_legs(deer):
    assert {"walk", "stand"} <= set(deer.actions)
    assert deer.plan == "quadruped"
    assert deer.species == "deer"
    assert deer.cloud.bones.shape[1] <= 4


def test_its_feet_are_on_the_ground(deer):
    for clip in (deer.neutral[None], *deer.clips):
        low = surface(deer, clip)[..., 1].amin()
        assert abs(float(low)) < 0.03 * deer.height


def test_it_faces_z_and_goes_there(deer):
    """A deer is longer than it is wide, and its walk goes forwards on its own heading."""
    still = surface(deer, deer.neutral[None])[0]
    span = still.amax(0) - still.amin(0)
    assert float(span[2]) > 1.5 * float(span[0])
    high = still[still[:, 1] > still[:, 1].quantile(0.95)]
    assert float(high[:, 2].mean()) > float(still[:, 2].mean()) + 0.1 * float(span[2])
    walk = surface(deer, deer.clips[deer.actions.index("walk")]).mean(1)
    gone = walk[-1] - walk[0]
    assert float(gone[2]) > 0.5 * deer.height
    assert abs(float(gone[0])) < 0.1 * float(gone[2])


def test_what_stands_stays(deer):
    stand = surface(deer, deer.clips[deer.actions.index("stand")]).mean(1)
    assert float((stand - stand[0])[:, [0, 2]].norm(dim=-1).max()) < 0.2 * deer.height


def test_a_file_without_clips_is_no_actor(shared_assets, tmp_path):
    broken = tmp_path / "Broken.glb"
    broken.write_bytes(b"glTF")
    assert artist_actor(broken, PoolSettings(splats=50)) is None
