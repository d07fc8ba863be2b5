"""The simulated world of an action."""

from akd.motion.actions import ACTION_LABELS, ACTIONS
from akd.physics.settings import STEADY, SimulatorSettings, world_for


def test_bodies_are_held_upright_in_actions_that_are_no_gaits():
    for name in ("kick", "sit_down", "dance", "jump", "stand"):
        assert world_for(name) == STEADY
    for name in (None, "walk", "run", "turn_left", "scuttle"):
        assert world_for(name) == SimulatorSettings()
    gaits = [name for name in ACTION_LABELS if ACTIONS[name].is_cyclic]
    assert all(world_for(name) != STEADY for name in gaits)
    assert STEADY.assist_limit > 5 * SimulatorSettings().assist_limit
