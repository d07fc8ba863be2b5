"""`WarpSimulator`: rolls bodies out on the CPU or on CUDA, with gradients to what controls them."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import torch
import warp as wp
from jaxtyping import Float, Int
from torch import Tensor

from akd.base.warp_runtime import build_once, load_kernel, start_warp, torch_stream
from akd.math import quaternion
from akd.physics.body import Body, State
from akd.physics.kernel import build_kernel
from akd.physics.parameters import Parameters

SCRATCH_BYTES = 512 * 2**20
"""Most memory for what a backward pass keeps of the substeps; beyond it they are done again."""


@build_once
def _kernel(dtype: torch.dtype) -> SimpleNamespace:
    """The compiled kernel for a dtype."""
    start_warp()
    match dtype:
        case torch.float32:
            return build_kernel(wp.float32)
        case torch.float64:
            return build_kernel(wp.float64)
        case _:
            raise ValueError(f"dtype must be torch.float32 or torch.float64, got {dtype}")


class Simulator(Protocol):
    """What tracking asks of a simulator. Units are those of the body and the parameters."""

    body: Body
    parameters: Parameters

    def rollout(
        self,
        start: State,
        targets: Float[Tensor, "E K D 3"],
        up: Float[Tensor, "K 3"] | None = None,
        *,
        clip: float | None = None,
        clip_every: int = 30,
    ) -> State:
        """States before and after each of K substeps, [E, K + 1, ...], from `start` [E, ...]."""
        ...


@dataclass(frozen=True)
class Variation:
    """How the environments differ from the parameters and from each other."""

    friction: Float[Tensor, "E"]
    mass_scale: Float[Tensor, "E B"]
    """Factors on the masses and inertias of the parts."""
    push: Float[Tensor, "E 3"]
    """Force on the root's centre, world axes, N."""
    push_first: Int[Tensor, "E"]
    """Substep at which the push begins."""
    push_last: Int[Tensor, "E"]
    """Substep before which it ends."""


class WarpSimulator:
    """The default simulator: `kernel.py` behind a torch function.

    The rollout is one launch forward. Backward, the substeps are kept, or done again in segments
    where keeping them all would take more than `scratch_bytes`.
    """

    def __init__(
        self,
        body: Body,
        parameters: Parameters,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        scratch_bytes: int = SCRATCH_BYTES,
    ) -> None:
        self.body, self.parameters = body, parameters
        self.dtype, self.device = dtype, torch.device(device)
        self.scratch_bytes = scratch_bytes
        self._types = _kernel(dtype)
        self._wp_device = wp.get_device(str(self.device))
        load_kernel(self._types.simulate, self._wp_device)
        self._held: list[Tensor] = []
        self.generation = 0
        self._model = self._build_model()
        self._no_gradient = self._types.Model(), self._types.Variation()
        self._scratch: dict[tuple[int, int, bool], Any] = {}
        self._alike: dict[int, Any] = {}

    def rollout(
        self,
        start: State,
        targets: Float[Tensor, "E K D 3"],
        up: Float[Tensor, "K 3"] | None = None,
        *,
        variation: Variation | None = None,
        clip: float | None = None,
        clip_every: int = 30,
    ) -> State:
        """Step E environments K times, towards the joint targets of each substep.

        Args:
            start: State of every environment, leading dimension [E].
            targets: Angles (rad) the joints' servos pull to.
            up: Target up-vector of the root assist torque, world axes; y by default.
            variation: Differences between the environments.
            clip: Norm to which the adjoint of the state is cut on its way back; None for no cut.
            clip_every: Substeps between two cuts.

        Returns:
            States before and after each substep, [E, K + 1, ...].
        """
        environments, substeps, joints = targets.shape[:3]
        if joints != len(self.body) - 1:
            raise ValueError(f"targets are for {joints} joints, the body has {len(self.body) - 1}")
        if start.position.shape[0] != environments:
            raise ValueError(
                f"start has {start.position.shape[0]} environments, targets {environments}"
            )
        if clip is not None and not clip > 0:
            raise ValueError(f"clip must be above zero, got {clip}")
        if up is None:
            up = targets.new_tensor((0.0, 1.0, 0.0)).expand(substeps, 3)
        parts = [part.to(self.device, self.dtype) for part in (*start.parts(), targets, up)]
        parts[1] = parts[1][..., [1, 2, 3, 0]]
        settings = (clip_every if clip else 0, clip or 0.0)
        outputs = _Rollout.apply(self, self._variation(variation, environments), settings, *parts)
        position, rotation, *rest = outputs  # pyright: ignore[reportGeneralTypeIssues]
        return State(position, rotation[..., [3, 0, 1, 2]], *rest)

    # What follows moves numbers between torch and Warp.

    def _array(self, tensor: Tensor, dtype: Any) -> Any:
        """A Warp array on a tensor that this simulator keeps alive."""
        self._held.append(tensor)
        return wp.from_torch(tensor, dtype=dtype, requires_grad=False)

    def _build_model(self) -> Any:
        body, p, types = self.body, self.parameters, self._types

        def put(tensor: Tensor, dtype: Any) -> Any:
            return self._array(tensor.to(self.device, self.dtype).contiguous(), dtype)

        model = types.Model()
        count = len(body)
        model.parts, model.corners_per_part = count, body.corners.shape[1]
        parents = torch.tensor(body.parents, dtype=torch.int32, device=self.device)
        model.parent = self._array(parents, wp.int32)
        above = torch.tensor(body.parents).clamp_min(0)
        model.arm = put(body.pivots - body.pivots[above], types.vec3)
        model.axis1, model.axis2, model.axis3 = (put(body.axes[:, i], types.vec3) for i in range(3))
        model.centre = put(body.centres - body.pivots, types.vec3)
        edges = quaternion.to_matrix(body.orientations) * body.half_extents[:, None]
        model.extent = put(edges, types.mat3)
        model.corner = put(body.corners - body.pivots[:, None], types.vec3)
        model.mass = put(body.masses, types.real)
        model.inertia = put(body.inertias, types.mat3)
        every = torch.ones(count, dtype=torch.float64)
        model.stiffness = put(every * p.stiffness, types.real)
        model.damping = put(every * p.damping, types.real)
        model.armature = put(every * p.armature, types.real)
        model.gravity = types.vec3(*p.gravity)
        model.contact_stiffness, model.contact_damping = p.contact_stiffness, p.contact_damping
        model.rounding, model.light, model.friction_epsilon = (
            p.contact_rounding,
            p.contact_light,
            p.friction_epsilon,
        )
        model.assist_stiffness, model.assist_damping = p.assist_stiffness, p.assist_damping
        model.assist_limit, model.step = p.assist_limit, p.step
        model.fastest = p.turn_limit / p.step
        return model

    def _variation(self, given: Variation | None, environments: int) -> Any:
        types, count = self._types, len(self.body)
        if given is None:
            if environments not in self._alike:
                self._alike[environments] = self._variation(
                    self._nominal(environments), environments
                )
            return self._alike[environments]
        if given.mass_scale.shape != (environments, count):
            raise ValueError(
                f"mass_scale must be [{environments}, {count}], got {tuple(given.mass_scale.shape)}"
            )
        record = types.Variation()
        held = [
            given.friction.to(self.device, self.dtype).contiguous(),
            given.mass_scale.to(self.device, self.dtype).contiguous().T,
            given.push.to(self.device, self.dtype).contiguous(),
            given.push_first.to(self.device, torch.int32).contiguous(),
            given.push_last.to(self.device, torch.int32).contiguous(),
        ]
        record.friction = wp.from_torch(held[0], dtype=types.real, requires_grad=False)
        record.mass_scale = wp.from_torch(held[1], dtype=types.real, requires_grad=False)
        record.push = wp.from_torch(held[2], dtype=types.vec3, requires_grad=False)
        record.push_first = wp.from_torch(held[3], dtype=wp.int32, requires_grad=False)
        record.push_last = wp.from_torch(held[4], dtype=wp.int32, requires_grad=False)
        return record, held

    def _nominal(self, environments: int) -> Variation:
        """Environments that are all alike."""
        zeros = torch.zeros(environments, dtype=torch.int64)
        friction = torch.full((environments,), self.parameters.friction, dtype=torch.float64)
        scale = torch.ones(environments, len(self.body))
        return Variation(friction, scale, torch.zeros(environments, 3), zeros, zeros)

    def empty(self, environments: int, *shape: int) -> Tensor:
        """Memory for [E, *shape], laid out so that the kernel reads neighbours together.

        On CUDA neighbouring threads are neighbouring environments, so these come last but for the
        components of a vector; on the CPU one environment is stepped after another.
        """
        if self.device.type == "cpu":
            return torch.zeros(environments, *shape, dtype=self.dtype)
        *lead, components = shape
        memory = torch.zeros(*lead, environments, components, dtype=self.dtype, device=self.device)
        return memory.movedim(-2, 0)

    def view(self, tensor: Tensor, dtype: Any) -> Any:
        """The Warp array [..., E] of a tensor [E, ..., components]."""
        return wp.from_torch(tensor.movedim(0, -2), dtype=dtype, requires_grad=False)

    def scratch_slots(self, environments: int) -> int:
        """How many substeps a backward pass may keep."""
        numbers = sum(size for size, _ in self._types.scratch_fields.values())
        slot = numbers * len(self.body) * environments * (self.dtype.itemsize) * 2
        return max(1, self.scratch_bytes // slot)

    def scratch(self, environments: int, slots: int, *, gradient: bool) -> tuple[Any, Any]:
        """Scratch arrays of a size or larger and, where asked for, those of their gradients."""
        # Powers of two: rollouts that grow from call to call mostly find room enough.
        slots = min(1 << (slots - 1).bit_length(), max(slots, self.scratch_slots(environments)))
        key = (environments, slots, gradient)
        if key not in self._scratch:
            self._scratch.clear()
            blocks = [self._scratch_block(environments, slots) for _ in range(1 + gradient)]
            records = [self._types.Scratch() for _ in blocks]
            for name, (size, dtype) in self._types.scratch_fields.items():
                pieces = [block[name] for block in blocks]
                if size == 9:
                    pieces = [piece.unflatten(-1, (3, 3)) for piece in pieces]
                arrays = [wp.from_torch(p, dtype=dtype, requires_grad=False) for p in pieces]
                if gradient:
                    # Warp finds the gradient of an array inside a struct only here.
                    arrays[0].grad = arrays[1]
                for record, array in zip(records, arrays, strict=True):
                    setattr(record, name, array)
            self._scratch[key] = records[0], records[-1]
        return self._scratch[key]

    def _scratch_block(self, environments: int, slots: int) -> dict[str, Tensor]:
        """The scratch fields, [slots, B, E, size] each, in one block of memory."""
        fields, parts = self._types.scratch_fields, len(self.body)
        numbers = [size * slots * parts * environments for size, _ in fields.values()]
        block = torch.zeros(sum(numbers), dtype=self.dtype, device=self.device)
        pieces = {}
        for name, piece in zip(fields, block.split(numbers), strict=True):
            if self.device.type == "cpu":
                pieces[name] = piece.view(environments, slots, parts, -1).movedim(0, 2)
            else:
                pieces[name] = piece.view(slots, parts, environments, -1)
        return pieces

    def launch(
        self,
        first: int,
        count: int,
        keep: int,
        clip: tuple[int, float],
        variation: Any,
        arrays: list[Any],
        scratch: tuple[Any, Any],
        gradients: list[Any] | None = None,
    ) -> None:
        """One launch of the kernel, or of its adjoint where gradients are given."""
        types = self._types
        environments = arrays[0].shape[-1]
        head = [self._model, variation, first, count, keep, clip[0], types.real(clip[1])]
        # The kernel's own view of the adjoint, for the cut; any arrays of the type will do forward.
        seen = (gradients or arrays)[:6]
        options: dict[str, Any] = {}
        if gradients is not None:
            options = {
                "adjoint": True,
                "adj_inputs": [
                    *self._no_gradient, 0, 0, 0, 0, types.real(0),
                    *gradients, scratch[1], *([None] * 6),
                ],
            }  # fmt: skip
        with torch_stream(self.device):
            wp.launch(
                types.simulate, dim=environments, inputs=[*head, *arrays, scratch[0], *seen],
                device=self._wp_device, **options,
            )  # fmt: skip


class _Rollout(torch.autograd.Function):
    """State before the first substep and targets in, states of all substeps out."""

    @staticmethod
    def forward(
        ctx: Any, sim: WarpSimulator, variation: Any, clip: tuple[int, float], *inputs: Tensor
    ) -> tuple[Tensor, ...]:
        *start, targets, up = inputs
        environments, substeps = targets.shape[:2]
        outputs = [sim.empty(environments, substeps + 1, *part.shape[1:]) for part in start]
        for output, part in zip(outputs, start, strict=True):
            output[:, 0] = part
        controls = sim.empty(*targets.shape).copy_(targets)
        up = up.contiguous()
        slots = sim.scratch_slots(environments)
        needed = any(ctx.needs_input_grad[3:])
        keep = needed and substeps <= slots
        scratch = sim.scratch(environments, substeps if keep else 1, gradient=keep)
        arrays = _arrays(sim, [*outputs, controls], up)
        sim.launch(0, substeps, int(keep), clip, variation[0], arrays, scratch)
        ctx.sim, ctx.variation, ctx.clip = sim, variation, clip
        ctx.segment = substeps if keep else min(slots, substeps)
        ctx.kept = keep
        # A later rollout of the same simulator writes over the scratch: it must then be redone.
        sim.generation += 1
        ctx.generation = sim.generation
        ctx.save_for_backward(*outputs, controls, up)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        sim, clip = ctx.sim, ctx.clip
        *outputs, controls, up = ctx.saved_tensors
        environments, substeps = controls.shape[:2]
        adjoints = []
        for output, gradient in zip(outputs, gradients, strict=True):
            adjoint = sim.empty(*output.shape)
            adjoints.append(adjoint if gradient is None else adjoint.copy_(gradient))
        g_controls, g_up = sim.empty(*controls.shape), torch.zeros_like(up)
        arrays = _arrays(sim, [*outputs, controls], up)
        g_arrays = _arrays(sim, [*adjoints, g_controls], g_up)
        # Warp clears the gradient of a scratch slot when it comes back to where it was written.
        scratch = sim.scratch(environments, ctx.segment, gradient=True)
        ready = ctx.kept and ctx.generation == sim.generation
        for first in reversed(range(0, substeps, ctx.segment)):
            count = min(ctx.segment, substeps - first)
            if not ready:
                sim.launch(first, count, 1, clip, ctx.variation[0], arrays, scratch)
            sim.launch(first, count, 1, clip, ctx.variation[0], arrays, scratch, g_arrays)
        if not ready:
            sim.generation += 1
        if clip[0]:
            _cut_by_chunk(g_controls, clip)
        starts = (adjoint[:, 0] for adjoint in adjoints)
        return None, None, None, *starts, g_controls, None


def _arrays(sim: WarpSimulator, tensors: list[Tensor], up: Tensor) -> list[Any]:
    """The kernel's arrays: six parts of the state, targets, up."""
    types = sim._types
    kinds = [types.vec3, types.quat, types.vec3, types.vec3, types.vec3, types.vec3, types.vec3]
    views = [sim.view(tensor, kind) for tensor, kind in zip(tensors, kinds, strict=True)]
    return [*views, wp.from_torch(up, dtype=types.vec3, requires_grad=False)]


def _cut_by_chunk(gradient: Tensor, clip: tuple[int, float]) -> None:
    """Scale the controls' gradient of every chunk of substeps to the norm of the cut at most."""
    every, limit = clip
    whole = gradient.shape[1] // every * every
    for part in (gradient[:, :whole], gradient[:, whole:]):
        if part.shape[1]:
            chunks = part.unflatten(1, (-1, min(every, part.shape[1])))
            norm = chunks.flatten(2).norm(dim=2)
            chunks.mul_((limit / norm.clamp_min(limit))[..., None, None, None])
