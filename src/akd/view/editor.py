"""`PoseEditor`: a pose that is dragged by its joints, and the keyframes kept of it. No viser here.

With a pose model the body follows within the space of plausible poses; without one, by damped least
squares on the joints between the root and the handle.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.motion import Motion
from akd.posespace.body import mirrored
from akd.posespace.codec import PoseCodec
from akd.posespace.ik import Goals, Spot, reach
from akd.posespace.space import PoseSpace
from akd.posespace.stand import standing_feet
from akd.rig.character import Character
from akd.view.frames import FPS

_ROUNDS = 12
_MOST_UNDO = 100
"""Poses that are remembered."""
_LEVEL, _STEPS = 0.3, 6
"""Noise level at which the pose model starts, and steps: a drag changes little, and quickly."""


@dataclass(frozen=True)
class Keyframe:
    """A pose kept at a time."""

    seconds: float
    state: Float[Tensor, "J 3"]


class PoseEditor:
    """One pose of a character, standing at the place of its neutral pose."""

    def __init__(self, character: Character) -> None:
        self.codec, self._roles = PoseCodec.of(character), character.anatomy.roles
        self.space: PoseSpace | None = None
        """None where no pose model is installed."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            self.space = PoseSpace.of(character)
        self.keyframes: list[Keyframe] = []
        self.state = torch.zeros(self.codec.body.tokens, 3)
        self._history: list[Float[Tensor, "J 3"]] = []
        rig = self.codec.rig
        self.joints: tuple[int, ...] = (rig.root, *rig.joints)
        """The file's joint of each token."""

    def adopt(self, other: PoseEditor) -> None:
        """Take over the keyframes of an editor of the same body; of another one, nothing."""
        mine, its = torch.zeros_like(self.state), torch.zeros_like(other.state)
        same = self.codec.rig.skeleton.names == other.codec.rig.skeleton.names
        if same and self.joints == other.joints and torch.allclose(
            self.codec.rig.world(self.codec.decode(mine[None])),
            other.codec.rig.world(other.codec.decode(its[None])), atol=1e-4,
        ):  # fmt: skip
            self.keyframes = other.keyframes

    @property
    def follows(self) -> str:
        """How the body follows a handle, for a person to read."""
        if self.space is None:
            return "by plain IK, because no pose model is installed"
        return "within the space of plausible poses"

    def handles(self) -> list[int]:
        """Tokens that are worth dragging: the last of each limb, head and tail, and the root."""
        parents = set(self.codec.rig.parents)
        ends = [d + 1 for d in range(len(self.codec.rig)) if d not in parents]
        return [0, *ends]

    def labels(self) -> list[str]:
        """Role and name of each joint, such as `left fore foot: Paw.L`; no label comes twice."""
        made: list[str] = []
        for joint in self.joints:
            label = f"{self._roles[joint]}: {self.codec.rig.skeleton.names[joint]}"
            while label in made:
                label += "'"
            made.append(label)
        return made

    def remember(self) -> None:
        """Keep the pose for `undo`: to be called before it is changed."""
        self._history = [*self._history[1 - _MOST_UNDO :], self.state.clone()]

    def undo(self) -> bool:
        """Go back to the pose that was last remembered. Returns whether there was one."""
        if not self._history:
            return False
        self.state = self._history.pop()
        return True

    def reset(self) -> None:
        """Take the neutral pose."""
        self.remember()
        self.state = torch.zeros_like(self.state)

    def mirror(self) -> None:
        """Exchange left and right.

        Raises:
            ValueError: A joint has no partner on the other side.
        """
        body = self.codec.body
        if bool((body.mirror < 0).any()):
            raise ValueError("left and right cannot be swapped: a joint has no partner")
        self.remember()
        self.state = mirrored(body.expand(1), self.state[None])[0]

    def take(self, motion: Motion, seconds: float) -> None:
        """Start from a pose of a clip."""
        self.remember()
        at = motion.sample(motion.times[:1] + seconds)
        self.state = self.codec.encode(self.codec.rig.from_pose(at.pose))[0]

    def drag(
        self,
        token: int,
        target: Float[np.ndarray, "3"],
        *,
        pinned: Sequence[int] = (),
        stand: bool = True,
    ) -> float:
        """Bring a joint to a point (metres, world) and return how far away it stays, metres.

        Pinned joints keep their place, as far as the body allows. With `stand`, so do feet on the
        ground, as far as the handle and the pins allow.
        """
        body, codec = self.codec.body, self.codec
        point = torch.as_tensor(np.asarray(target), dtype=torch.float32)
        if not bool(point.isfinite().all()):
            raise ValueError(f"target must be three finite numbers, got {target}")
        kept = [other for other in pinned if other != token]
        if token == 0:  # a pose has a height and no place over the ground
            point[[0, 2]] = torch.from_numpy(self.places()[0, [0, 2]])
        if self.space is not None:
            names = [codec.rig.skeleton.names[j] for j in self.joints]
            found = self.space.ik(
                {names[token]: point.tolist()}, pin=[names[t] for t in kept], stand=stand,
                start=self.state, level=_LEVEL, steps=_STEPS,
            )  # fmt: skip
            self.state = found.states[0]
            return float(found.residual[0])
        feet = standing_feet(body, self.state, moved={token, *kept}) if stand else []
        goals = Goals.of(
            body, self.state, handles={Spot(token): codec.in_body(point)}, look={},
            pin=[Spot(other) for other in kept], stand=feet,
        )  # fmt: skip
        found = reach(body.expand(1), self.state[None], goals, rounds=_ROUNDS)
        found = reach(body.expand(1), found, goals.hard, rounds=_ROUNDS).detach()
        self.state = found[0]
        return float(goals.residual(body.expand(1), found)[0]) * codec.size

    def world(self) -> Float[Tensor, "J 4 4"]:
        """world_from_joint of the file's joints, metres."""
        return self.codec.rig.world(self.codec.decode(self.state[None]))[0]

    def places(self) -> Float[np.ndarray, "K 3"]:
        """Where the tokens' joints are, metres, world."""
        return self.world()[list(self.joints), :3, 3].float().numpy(force=True)

    def keep(self, seconds: float) -> None:
        """Keep the pose as the keyframe of a time."""
        others = [k for k in self.keyframes if abs(k.seconds - seconds) > 0.5 / FPS]
        self.keyframes = sorted(
            [*others, Keyframe(seconds, self.state.clone())], key=lambda k: k.seconds
        )

    def show(self, keyframe: Keyframe) -> None:
        """Take the pose of a keyframe."""
        self.remember()
        self.state = keyframe.state.clone()

    def motion(self, name: str) -> Motion:
        """The keyframes as a clip: through the pose space where there is one, else joint by joint.

        Raises:
            ValueError: There are fewer than two keyframes.
        """
        if len(self.keyframes) < 2:
            raise ValueError(f"a clip needs at least 2 keyframes, got {len(self.keyframes)}")
        times, states = [self.keyframes[0].seconds], [self.keyframes[0].state[None]]
        for a, b in zip(self.keyframes, self.keyframes[1:], strict=False):
            count = max(round((b.seconds - a.seconds) * FPS), 1)
            if self.space is None:
                between = b.state[None]
                count = 1
            else:
                between = self.space.interpolate(a.state, b.state, count + 1)[1:]
                between = torch.cat((between[:-1], b.state[None]))
            states.append(between)
            times += [a.seconds + (b.seconds - a.seconds) * (i + 1) / count for i in range(count)]
        pose = self.codec.rig.to_pose(self.codec.decode(torch.cat(states))).continuous()
        begin = times[0]
        made = Motion(self.codec.rig.skeleton, torch.tensor([t - begin for t in times]), pose, name)
        return made.resample(FPS)
