"""`PoseSpace`: the plausible poses of one character, to sample, judge, project and solve for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import kinematics
from akd.posespace.codec import PoseCodec
from akd.posespace.diffusion import interpolate, levels, sample, signal_and_noise, walk
from akd.posespace.ground import settled
from akd.posespace.guided_ik import IK_LEVEL, IK_STEPS, guided_ik
from akd.posespace.ik import Goals, Spot
from akd.posespace.model import load_model
from akd.posespace.network import PoseNetwork
from akd.posespace.score import PoseScores, score
from akd.posespace.stand import standing_feet
from akd.posespace.surface import PosedSurface
from akd.posespace.validate import Validator, between_guidance, body_validators, guidance
from akd.rig.character import Character
from akd.rig.control import ROOT

OUT_OF_PLACE = 0.0
"""Log-odds of a joint from which `project` completes it anew."""

Point = Sequence[float]


@dataclass(frozen=True)
class Solution:
    """Answers of `PoseSpace.ik`."""

    states: Float[Tensor, "N J 3"]
    residual: Float[Tensor, "N"]
    """Largest distance of a handle from its target, metres."""


@dataclass(frozen=True)
class PoseSpace:
    """A character and the pose model. States are those of `PoseCodec`."""

    codec: PoseCodec
    network: PoseNetwork
    surface: PosedSurface | None = None
    """What the validators look at beside the bones; None for a character without faces."""

    @classmethod
    def of(cls, character: Character, weights: Path | None = None) -> PoseSpace:
        """The pose space of a character.

        Args:
            character: The character.
            weights: A pose model of `akd pose train`; the bundled one by default.

        Returns:
            The pose space.

        Raises:
            FileNotFoundError: There are no weights.
            ValueError: The weights are of another format.
        """
        codec = PoseCodec.of(character)
        return cls(codec, load_model(weights), PosedSurface.of(character, codec))

    @cached_property
    def joints(self) -> dict[str, Spot]:
        """Where joints are, by name in the file and by role.

        A joint that is not driven, such as a finger, is a point of the driven one that moves it.
        """
        rig, pivots = self.codec.rig, self.codec.body.pivots
        follow = {}
        for name, driver, world in zip(
            rig.skeleton.names, rig.driver_index.tolist(), rig.neutral_world, strict=True
        ):
            if (token := driver - ROOT) >= 0:
                x, y, z = (self.codec.in_body(world[:3, 3]) - pivots[token]).tolist()
                follow[name] = Spot(token, (x, y, z))
        roles = {str(role): Spot(token) for token, role in enumerate(rig.roles, start=1)}
        names = {rig.skeleton.names[j]: Spot(k) for k, j in enumerate((rig.root, *rig.joints))}
        return {**follow, "pelvis": Spot(0), **roles, **names}

    def spot(self, joint: str) -> Spot:
        """A joint as a point of the body.

        Args:
            joint: Its name in the file, or its role.

        Returns:
            The token that moves it, and where it is on it.

        Raises:
            ValueError: There is no such joint; the message suggests one.
        """
        if joint in self.joints:
            return self.joints[joint]
        near = difflib.get_close_matches(joint, self.joints, n=1, cutoff=0.0)
        raise ValueError(
            f"there is no joint {joint!r}; did you mean {near[0]!r}? `akd inspect` lists joints "
            "and roles"
        )

    def place(
        self, joint: str, state: Float[Tensor, "J 3"] | None = None
    ) -> tuple[float, float, float]:
        """Where a joint is in a pose: metres, world, of the character in place.

        Args:
            joint: Its name in the file, or its role.
            state: The pose; the neutral pose if left out.

        Returns:
            The point.

        Raises:
            ValueError: There is no such joint; the message suggests one.
        """
        body = self.codec.body
        state = torch.zeros(body.tokens, 3) if state is None else state
        point = self.spot(joint).place(*kinematics(body.expand(1), state[None]))[0]
        x, y, z = self.codec.in_world(point).tolist()
        return x, y, z

    def sample(self, count: int, *, seed: int = 0, steps: int = 24) -> Float[Tensor, "count J 3"]:
        """Random plausible poses, guided by the validators and set down on the ground.

        Args:
            count: How many.
            seed: Of the noise.
            steps: Denoising steps.

        Returns:
            States.
        """
        draw, body = torch.Generator().manual_seed(seed), self.codec.body.expand(count)
        steer = guidance(self.validators(count))
        found = sample(self.network, body, steps=steps, generator=draw, steer=steer)
        return settled(body, found)

    def validators(self, count: int) -> list[Validator]:
        """Differentiable checks of joint range, self-intersection, ground and volume.

        Args:
            count: How many poses they take at once.

        Returns:
            The validators.
        """
        found = body_validators(self.codec.body.expand(count))
        return found if self.surface is None else found + self.surface.validators()

    def score(self, states: Float[Tensor, "N J 3"]) -> PoseScores:
        """Implausibility of poses and of their joints.

        Args:
            states: The poses.

        Returns:
            A score for each pose and for each of its joints; lower is more plausible.

        Raises:
            ValueError: The states are of another skeleton, or not finite.
        """
        self._check(states)
        return score(self.network, self.codec.body.expand(len(states)), states)

    @torch.no_grad()
    def project(
        self, states: Float[Tensor, "N J 3"], *, level: float = 0.3, steps: int = 8
    ) -> Float[Tensor, "N J 3"]:
        """Plausible poses near the given ones, by denoising from a noise level.

        Joints that the judge finds out of place are resampled first, given the others: a joint that
        is off by a radian is too far away for the noise level.

        Args:
            states: The poses.
            level: The noise level, 0 to 1: the higher, the further poses may move.
            steps: Denoising steps.

        Returns:
            A pose for each, guided by the validators.

        Raises:
            ValueError: The states are of another skeleton, or not finite.
        """
        self._check(states)
        given = self.network.describe(self.codec.body.expand(len(states)))
        alpha, _ = signal_and_noise(torch.tensor(level))
        steer = guidance(self.validators(len(states)))
        joints, _ = self.network.judge(states, given)
        wrong = given.body.present & (joints > OUT_OF_PLACE)
        if bool(wrong.any()):
            begun = torch.zeros_like(states)
            states = walk(self.network, given, begun, levels(steps), known=(~wrong, states))
        return walk(self.network, given, alpha * states, levels(steps, top=level), steer=steer)

    @torch.no_grad()
    def interpolate(
        self,
        a: Float[Tensor, "J 3"],
        b: Float[Tensor, "J 3"],
        count: int,
        *,
        steps: int = 12,
    ) -> Float[Tensor, "count J 3"]:
        """Interpolate between two poses by DDIM inversion, so that in-betweens are plausible.

        Args:
            a: The first pose.
            b: The last pose.
            count: How many poses, these two included.
            steps: Denoising steps.

        Returns:
            The poses in order.

        Raises:
            ValueError: The states are of another skeleton, or not finite.
        """
        self._check(a[None], b[None])
        shares, body = torch.linspace(0.0, 1.0, count), self.codec.body.expand(1)
        steer = between_guidance(body, a[None], b[None], shares)
        return interpolate(self.network, body, a[None], b[None], shares, steps=steps, steer=steer)[
            :, 0
        ]

    @torch.no_grad()
    def ik(
        self,
        handles: Mapping[str, Point],
        *,
        look: Mapping[str, Point] | None = None,
        pin: Sequence[str] = (),
        stand: bool = True,
        start: Float[Tensor, "J 3"] | None = None,
        count: int = 1,
        seed: int = 0,
        steps: int = IK_STEPS,
        level: float = IK_LEVEL,
    ) -> Solution:
        """Plausible poses whose joints meet the given targets.

        At each of several falling noise levels the model's clean estimate takes the smallest step
        that brings the handles to their targets. An answer that the judge finds implausible is then
        corrected where the handles leave it free. Bone lengths are exact.

        Args:
            handles: Targets by joint (name or role): metres, world, of the character in place.
            look: Points that the front of a joint should face, by joint.
            pin: Joints that keep the place that they have in `start`.
            stand: Feet that stand on the ground in `start` stay there, as far as the handles and
                pins allow; a handle on a foot frees it.
            start: Pose to start from; the neutral pose if left out.
            count: Answers; the first one starts without noise, the others with their own.
            seed: Of the noise.
            steps: Noise levels.
            level: Where sampling starts; the lower, the nearer the answers are to `start`.

        Returns:
            The poses, and how far their handles are from the targets. A target out of reach is
            approached as nearly as the limb allows.

        Raises:
            ValueError: A joint is unknown, a target is not three finite numbers, or there is none;
                `start` is of another skeleton.
        """
        body = self.codec.body
        first = torch.zeros(body.tokens, 3) if start is None else start
        self._check(first[None])
        targets = {self.spot(j): self._in_body(j, p) for j, p in handles.items()}
        pinned = [self.spot(j) for j in pin]
        moved = {spot.token for spot in (*targets, *pinned)}
        feet = standing_feet(body, first, moved=moved) if stand else []
        goals = Goals.of(
            body, first, handles=targets, pin=pinned, stand=feet,
            look={self.spot(j).token: self._in_body(j, p) for j, p in (look or {}).items()},
        )  # fmt: skip
        batch = body.expand(count)
        draw = torch.Generator().manual_seed(seed)
        noise = torch.randn(count, body.tokens, 3, generator=draw)
        noise[0] = 0.0
        found = guided_ik(
            self.network, batch, goals, first.expand_as(noise), noise=noise, steps=steps,
            level=level,
        )  # fmt: skip
        return Solution(found, goals.residual(batch, found) * self.codec.size)

    def _check(self, *poses: Float[Tensor, "N K 3"]) -> None:
        """Refuse states of another skeleton, and numbers that are not finite."""
        tokens = self.codec.body.tokens
        for states in poses:
            if states.shape[1] != tokens:
                raise ValueError(
                    f"states must be of this skeleton, {tokens} tokens, got {states.shape[1]}"
                )
            if not bool(states.isfinite().all()):
                raise ValueError("states must be finite numbers, got others")

    def _in_body(self, joint: str, point: Point) -> Float[Tensor, "3"]:
        """A point of the world in the body's frame and size."""
        target = torch.tensor([float(x) for x in point])
        if target.shape != (3,) or not bool(target.isfinite().all()):
            raise ValueError(
                f"target of {joint!r} must be three finite numbers, got {tuple(point)}"
            )
        return self.codec.in_body(target)
