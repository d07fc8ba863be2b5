"""The transformer over joints: attention that knows the tree, conditioned on the body."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.settings import FEATURES, NAME_CHANNELS, RELATIONS, ROLES, PoseNetworkSettings

_TIMES = 32
_GEOMETRY = 3 + 9 + 3 + 1
_POSED = 3 + 3 + 6


@dataclass(frozen=True)
class Condition:
    """What the network makes of a batch of bodies, before it sees a pose."""

    body: PoseBody
    tokens: Float[Tensor, "B J W"]
    bias: Float[Tensor, "B L H J J"]
    """Attention bias of each layer and head; -inf towards padding."""

    def __getitem__(self, index: Tensor) -> Condition:
        """Bodies of a batch."""
        return Condition(self.body[index], self.tokens[index], self.bias[index])

    def repeat(self, times: int) -> Condition:
        """Every body `times` times, one after the other."""

        def each(value: Tensor) -> Tensor:  # the gradient is a sum, not a scatter as of an index
            return value[:, None].expand(-1, times, *value.shape[1:]).flatten(0, 1)

        body = PoseBody(**{f.name: each(getattr(self.body, f.name)) for f in fields(self.body)})
        return Condition(body, each(self.tokens), each(self.bias))


class _Block(nn.Module):
    """Attention with a bias a pair, then a feed-forward layer, both modulated by noise level."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )
        self.modulation = nn.Parameter(torch.zeros(6, width))

    def forward(
        self,
        x: Float[Tensor, "B J W"],
        time: Float[Tensor, "B J 6 W"],
        bias: Float[Tensor, "B H J J"],
    ) -> Float[Tensor, "B J W"]:
        modulation = time + self.modulation.to(time.dtype)
        shift, scale, gate, shift2, scale2, gate2 = modulation.unbind(-2)
        normal = functional.layer_norm(x, x.shape[-1:]) * (1.0 + scale) + shift
        q, k, v = self.qkv(normal).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias
        seen = logits.softmax(-1).to(v.dtype) @ v
        x = x + gate * self.out(seen.transpose(1, 2).flatten(2))
        normal = functional.layer_norm(x, x.shape[-1:]) * (1.0 + scale2) + shift2
        return x + gate2 * self.feed(normal)


class PoseNetwork(nn.Module):
    """Predicts v = alpha noise - sigma state for noisy poses of any body, and judges clean ones.

    Each token sees its noisy rotation and, by forward kinematics, where that puts it.
    """

    def __init__(self, settings: PoseNetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        width, small = settings.width, settings.point_width
        self.body_in = nn.Linear(FEATURES + _GEOMETRY, width)
        self.part, self.limb, self.side = (nn.Embedding(count, width) for count in ROLES)
        self.name = nn.Linear(NAME_CHANNELS, width)
        self.points = nn.Sequential(
            nn.Linear(6, small), nn.GELU(approximate="tanh"), nn.Linear(small, small)
        )
        self.points_in = nn.Linear(small, width)
        self.condition = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(approximate="tanh"),
            nn.Linear(width, width),
        )  # fmt: skip
        self.relation = nn.Embedding(RELATIONS, settings.layers * settings.heads)
        nn.init.zeros_(self.relation.weight)
        self.state_in = nn.Linear(_POSED, width)
        self.time = nn.Sequential(nn.Linear(2 * _TIMES, width), nn.SiLU(), nn.Linear(width, width))
        self.modulate = nn.Linear(width, 6 * width)
        self.blocks = nn.ModuleList(_Block(width, settings.heads) for _ in range(settings.layers))
        self.out = nn.Linear(width, 3)
        self.judge_tokens, self.judge_poses = nn.Linear(width, 1), nn.Linear(width, 1)
        for layer in (self.modulate, self.out, self.judge_tokens, self.judge_poses):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def describe(self, body: PoseBody) -> Condition:
        """The bodies alone: computed once for all steps of a query."""
        length = body.ends.norm(dim=-1, keepdim=True)
        geometry = torch.cat((body.pivots, body.frames.flatten(-2), body.ends, length), dim=-1)
        tokens = self.body_in(torch.cat((body.features, geometry), dim=-1))
        part, limb, side = body.roles.unbind(-1)
        tokens = tokens + self.part(part) + self.limb(limb) + self.side(side)
        tokens = tokens + self.name(body.names)
        placed = torch.cat((body.points, body.points + body.pivots[..., None, :]), dim=-1)
        surface = self.points_in(self.points(placed).amax(-2)) * body.has_points[..., None]
        tokens = tokens + surface
        bias = self.relation(body.relation).unflatten(-1, (-1, self.settings.heads))
        bias = bias.permute(0, 3, 4, 1, 2).masked_fill(
            ~body.present[:, None, None, None, :], float("-inf")
        )
        return Condition(body, tokens + self.condition(tokens), bias)

    def forward(
        self,
        state: Float[Tensor, "B J 3"],
        t: Float[Tensor, "B J"],
        given: Condition,
    ) -> Float[Tensor, "B J 3"]:
        """v of noisy states; `t` in 0..1 is the noise level of each token."""
        return self.out(self._last_layer(state, t, given)).float()

    def judge(
        self, state: Float[Tensor, "B J 3"], given: Condition
    ) -> tuple[Float[Tensor, "B J"], Float[Tensor, "B"]]:
        """Log-odds that each token is out of place, and that the pose is implausible."""
        x = self._last_layer(state, torch.zeros_like(state[..., 0]), given)
        tokens = self.judge_tokens(x).squeeze(-1).float()
        present = given.body.present
        worst = tokens.masked_fill(~present, float("-inf")).logsumexp(-1)
        mean = (x * present[..., None]).sum(1) / present.sum(1, keepdim=True)
        return tokens, worst + self.judge_poses(mean).squeeze(-1).float()

    def _last_layer(
        self, state: Float[Tensor, "B J 3"], t: Float[Tensor, "B J"], given: Condition
    ) -> Float[Tensor, "B J W"]:
        # In float32: a chain of a dozen rotations in bfloat16 would lose the hand.
        with torch.autocast(state.device.type, enabled=False):
            places, turned = kinematics(given.body, state.float())
            posed = torch.cat((state.float(), places, turned[..., :2].flatten(-2)), dim=-1)
        x = given.tokens + self.state_in(posed)
        time = self.time(_waves(t))
        modulation = self.modulate(functional.silu(time + given.tokens)).unflatten(-1, (6, -1))
        for layer, block in enumerate(self.blocks):
            x = block(x, modulation, given.bias[:, layer])
        return functional.layer_norm(x, x.shape[-1:])


def _waves(t: Float[Tensor, "B J"]) -> Float[Tensor, "B J W"]:
    """Sines and cosines of the noise level."""
    rates = torch.exp(torch.linspace(0.0, math.log(400.0), _TIMES, device=t.device))
    angles = t[..., None] * rates
    return torch.cat((angles.sin(), angles.cos()), dim=-1)
