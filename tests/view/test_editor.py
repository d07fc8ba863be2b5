"""Pose mode without a browser: handles are reached, pins hold, keyframes become a clip."""

import numpy as np
import pytest

from akd.api.loading import load
from akd.export.creature import write_creature
from akd.posespace.stand import standing_feet
from akd.view.editor import PoseEditor
from tests.zoo.menagerie import creature


@pytest.fixture
def editor(fox):
    return PoseEditor(fox)


def test_a_dragged_joint_arrives_and_bones_keep_their_lengths(editor):
    token = editor.handles()[-1]
    before = editor.places()
    target = before[token] + np.array((0.0, 0.05, 0.04), np.float32)
    left = editor.drag(token, target)
    after = editor.places()
    assert left < 0.01
    assert np.linalg.norm(after[token] - target) < 0.01
    parents = [p + 1 for p in editor.codec.rig.parents]

    def lengths(places):
        return np.linalg.norm(places[1:] - places[parents], axis=1)

    assert lengths(after) == pytest.approx(lengths(before), abs=1e-4)


def test_a_pinned_joint_stays(editor):
    first, other = editor.handles()[1], editor.handles()[-1]
    before = editor.places()
    editor.drag(other, before[other] + (0.0, 0.05, 0.02), pinned=[first])
    assert np.linalg.norm(editor.places()[first] - before[first]) < 0.01


@pytest.mark.parametrize("model", [True, False])
def test_feet_stand_while_the_head_is_dragged(editor, model):
    if not model:
        editor.space = None
    names = [editor.codec.rig.skeleton.names[j] for j in editor.joints]
    head = names.index("head") if "head" in names else editor.handles()[1]
    before = editor.places()
    feet = standing_feet(editor.codec.body, editor.state, moved=[head])
    assert len(feet) >= 4
    editor.drag(head, before[head] + (0.0, 0.04, 0.0))
    assert np.abs(editor.places()[feet] - before[feet]).max() < 0.005


def test_the_root_sinks_over_pinned_feet(editor):
    feet = editor.handles()[1:]
    before = editor.places()
    editor.drag(0, before[0] - (0.0, 0.03, 0.0), pinned=feet)
    after = editor.places()
    assert after[0, 1] == pytest.approx(before[0, 1] - 0.03, abs=0.01)
    assert np.abs(after[feet] - before[feet]).max() < 0.02


def test_changes_are_undone_one_by_one(editor):
    token = editor.handles()[-1]
    neutral = editor.places()
    assert not editor.undo()
    editor.remember()
    editor.drag(token, neutral[token] + (0.0, 0.05, 0.0))
    dragged = editor.places()
    editor.reset()
    assert editor.places() == pytest.approx(neutral, abs=1e-6)
    assert editor.undo()
    assert editor.places() == pytest.approx(dragged, abs=1e-6)
    assert editor.undo()
    assert editor.places() == pytest.approx(neutral, abs=1e-6)


def test_a_mirrored_pose_exchanges_left_and_right(editor, fox):
    roles = [str(role) for role in editor.codec.rig.roles]
    token, other = (1 + roles.index(f"{side} fore foot") for side in ("left", "right"))
    editor.drag(token, editor.places()[token] + (0.0, 0.06, 0.05), pinned=[other])
    before = editor.places()
    editor.mirror()
    left = np.cross((0.0, 1.0, 0.0), fox.forward.numpy())
    partner = editor.codec.body.mirror.numpy()
    across = before[partner] - 2.0 * np.outer((before[partner] - before[0]) @ left, left)
    assert editor.places() == pytest.approx(across, abs=0.01 * fox.height)
    assert np.abs(editor.places() - before).max() > 0.05 * fox.height


@pytest.mark.slow
def test_keyframes_become_a_clip(editor):
    token = editor.handles()[-1]
    editor.keep(0.5)
    with pytest.raises(ValueError, match="at least 2 keyframes, got 1"):
        editor.motion("one")
    editor.drag(token, editor.places()[token] + (0.0, 0.05, 0.0))
    end = editor.world()
    editor.keep(1.5)
    motion = editor.motion("lift")
    assert (motion.name, motion.duration, len(motion)) == ("lift", pytest.approx(1.0), 31)
    assert motion.world()[-1].numpy() == pytest.approx(end.numpy(), abs=1e-3)


def test_targets_must_be_finite(editor):
    with pytest.raises(ValueError, match="three finite numbers"):
        editor.drag(1, np.array((0.0, np.nan, 0.0)))


@pytest.mark.slow
def test_keyframes_go_on_in_another_editor_of_the_same_body(editor, fox, tmp_path):
    editor.keep(0.0)
    editor.drag(editor.handles()[-1], editor.places()[editor.handles()[-1]] + (0.0, 0.05, 0.0))
    editor.keep(0.5)
    other = PoseEditor(fox)
    other.adopt(editor)
    assert other.keyframes == editor.keyframes
    other.show(other.keyframes[1])
    assert other.places() == pytest.approx(editor.places(), abs=1e-5)
    assert other.undo()
    assert not np.allclose(other.places(), editor.places(), atol=1e-3)
    write_creature(creature("man"), [], tmp_path / "man.glb")
    man = PoseEditor(load(tmp_path / "man.glb"))
    man.adopt(editor)
    assert man.keyframes == []
