"""IK on a GPU by CUDA graphs: few launches in place of thousands, for bodies and goals of any kind.

The graphs are captured for the largest body and for a number of goals; smaller bodies and fewer
goals are padded. So a query of another character needs no further capture.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.cuda_graph import GraphStep
from akd.posespace.body import PoseBody, stack_bodies
from akd.posespace.ik import IK_LEVEL, IK_STEPS, LAST_ROUNDS, Goals, Search, ancestry, approach
from akd.posespace.network import PoseNetwork

_TOKENS = 41
"""Tokens to which bodies are padded: the root and 40 driven joints, the most of a control rig."""
_TARGETS = 4
"""Targets are padded to a multiple of this."""
_ROUNDS = 5
"""Rounds of least squares in a graph, after which the host asks whether the goals are met."""
_FIELDS = tuple(field.name for field in fields(PoseBody))


@dataclass(frozen=True)
class _Graphs:
    near: GraphStep
    """The model's part: `approach`."""
    last: GraphStep
    """Rounds of least squares: states, damping and whether the goals are far."""


class GraphIk:
    """`guided_ik` of a network, as CUDA graphs on a GPU and as plain calls elsewhere.

    Answers are those of `guided_ik` up to rounding.
    """

    def __init__(
        self, network: PoseNetwork, *, steps: int = IK_STEPS, level: float = IK_LEVEL
    ) -> None:
        """
        Args:
            network: The pose model, on its device.
            steps: Noise levels.
            level: Where they start.
        """
        self._network, self._steps, self._level = network, steps, level
        self._graphs: dict[tuple[int, ...], _Graphs] = {}

    @property
    def is_captured(self) -> bool:
        """Whether every size that was asked for is replayed."""
        steps = [step for graphs in self._graphs.values() for step in (graphs.near, graphs.last)]
        return all(step.is_captured for step in steps)

    @torch.no_grad()
    def __call__(
        self,
        body: PoseBody,
        goals: Goals,
        start: Float[Tensor, "B J 3"],
        *,
        noise: Float[Tensor, "B J 3"] | None = None,
    ) -> Float[Tensor, "B J 3"]:
        """States that meet goals. The first three calls of a size are slow, the last captures.

        Args:
            body: A batch of bodies.
            goals: With a row for each pose, or one for all of them.
            start: States to start from.
            noise: As of `guided_ik`.
        """
        device = next(self._network.parameters()).device
        count, tokens = len(start), body.tokens
        room = max(tokens, _TOKENS)
        whole = stack_bodies([body[k] for k in range(count)], tokens=room).to(device)
        wide = _widened(goals, count, device)
        begin, shaken = start.new_zeros(2, count, room, 3, device=device)
        begin[:, :tokens] = start
        if noise is not None:
            shaken[:, :tokens] = noise
        given = [getattr(whole, name) for name in _FIELDS] + _parts(wide)
        size = (count, room, wide.tokens.shape[1], wide.facing.shape[1])
        graphs = self._captured(size, device)
        (states,) = graphs.near(*given, begin, shaken)
        states = self._last(graphs, given, states)
        if goals.has_soft:
            hard = [*given[: len(_FIELDS)], *_parts(wide.hard)]
            states = self._last(graphs, hard, states)
        return states[:, :tokens]

    def _last(self, graphs: _Graphs, given: list[Tensor], states: Tensor | None) -> Tensor:
        assert states is not None
        states, damping = states.clone(), states.new_full((len(states), 1, 1), -1.0)
        for _ in range(LAST_ROUNDS // _ROUNDS):
            found, damped, far = graphs.last(*given, states, damping)
            assert found is not None
            assert damped is not None
            states, damping = found.clone(), damped.clone()
            if not bool(far):
                break
        return states

    def _captured(self, size: tuple[int, ...], device: torch.device) -> _Graphs:
        if size not in self._graphs:
            self._graphs[size] = _Graphs(
                GraphStep(self._near, device=device), GraphStep(self._rounds, device=device)
            )
        return self._graphs[size]

    def _near(self, *inputs: Tensor) -> list[Tensor]:
        *given, start, noise = inputs
        body, goals = _unpacked(given)
        return [
            approach(
                self._network, body, goals, start, noise=noise, steps=self._steps,
                level=self._level, waits=False,
            )
        ]  # fmt: skip

    @staticmethod
    def _rounds(*inputs: Tensor) -> list[Tensor]:
        *given, states, damping = inputs
        body, goals = _unpacked(given)
        search = Search.begin(body, states, goals, ancestry(body))
        # A negative damping asks for the one to start with.
        search = replace(search, damping=torch.where(damping < 0.0, search.damping, damping))
        search = search.rounds(_ROUNDS, waits=False)
        return [search.states, search.damping, search.is_far()]


def _widened(goals: Goals, count: int, device: torch.device) -> Goals:
    """A row for each pose, and targets up to a whole multiple that do not count."""
    missing = -goals.tokens.shape[-1] % _TARGETS

    def rows(value: Tensor) -> Tensor:
        return value.to(device).expand(count, *value.shape[1:])

    def padded(value: Tensor, axis: int) -> Tensor:
        shape = list(value.shape)
        shape[axis] = missing
        return torch.cat((value, value.new_zeros(shape)), dim=axis)

    return Goals(
        padded(rows(goals.tokens), 1), padded(rows(goals.targets), 1), rows(goals.facing),
        rows(goals.points), padded(goals.weights.to(device), 0), padded(rows(goals.offsets), 1),
    )  # fmt: skip


def _parts(goals: Goals) -> list[Tensor]:
    return [getattr(goals, field.name) for field in fields(Goals)]


def _unpacked(given: list[Tensor]) -> tuple[PoseBody, Goals]:
    body = PoseBody(**dict(zip(_FIELDS, given, strict=False)))
    return body, Goals(*given[len(_FIELDS) :])
