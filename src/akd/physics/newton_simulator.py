"""`NewtonSimulator`: Newton's semi-implicit solver behind the same protocol as our own kernel.

The paper's own way: maximal coordinates, joints held together by springs, everything explicit, each
chunk of substeps a torch layer with a recorded tape. It is the second opinion, not the default: its
steps must be many times shorter, its friction is viscous below a smoothing speed, and armature is
not part of it. Needs the `newton` extra.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
import warp as wp
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion
from akd.physics.body import Body, State
from akd.physics.forces import part_motion
from akd.physics.newton_assist import apply_assist_torque
from akd.physics.parameters import Parameters

XYZW = [1, 2, 3, 0]
WXYZ = [3, 0, 1, 2]


class NewtonSimulator:
    """One environment, float32. Joint frames are orthogonal: targets about tilted axes are turned
    into angles about perpendicular ones."""

    def __init__(
        self,
        body: Body,
        parameters: Parameters,
        *,
        inner_steps: int = 8,
        chunk: int = 30,
        capture: bool = True,
        device: str = "cpu",
    ) -> None:
        if inner_steps < 1 or chunk < 1:
            raise ValueError(
                f"inner_steps and chunk must be at least 1, got {inner_steps} and {chunk}"
            )
        self.body, self.parameters = body, parameters
        self.inner_steps, self.chunk, self.device = inner_steps, chunk, device
        u1, u2, _ = body.axes[1:].unbind(1)
        self.axes = torch.stack((u1, u2, torch.linalg.cross(u1, u2)), dim=1)
        self._engine = _Chunk(self, capture=capture)

    def rollout(
        self,
        start: State,
        targets: Float[Tensor, "E K D 3"],
        up: Float[Tensor, "K 3"] | None = None,
        *,
        clip: float | None = None,
        clip_every: int = 30,
    ) -> State:
        """States before and after each of K substeps, [1, K + 1, ...]. Chunks are of the length
        given to the constructor, whatever `clip_every` says."""
        del clip_every
        if targets.shape[0] != 1:
            raise ValueError(f"NewtonSimulator steps one environment, got {targets.shape[0]}")
        substeps = targets.shape[1]
        if up is None:
            up = targets.new_tensor((0.0, 1.0, 0.0)).expand(substeps, 3)
        wanted = davenport.from_quaternion(
            self.axes.float(), davenport.to_quaternion(self.body.axes[1:].float(), targets[0])
        )
        places, motions = self._to_newton(start)
        all_places, all_motions = [places[None]], [motions[None]]
        for first in range(0, substeps, self.chunk):
            count = min(self.chunk, substeps - first)
            piece = _padded(wanted[first : first + count].flatten(1), self.chunk)
            goals = _padded(up[first : first + count].float(), self.chunk)
            made = _NewtonChunk.apply(self._engine, clip, places, motions, piece, goals)
            chunk_places, chunk_motions = made  # pyright: ignore[reportGeneralTypeIssues]
            all_places.append(chunk_places[:count])
            all_motions.append(chunk_motions[:count])
            places, motions = chunk_places[count - 1], chunk_motions[count - 1]
        return self._from_newton(torch.cat(all_places), torch.cat(all_motions))

    def _to_newton(self, start: State) -> tuple[Float[Tensor, "B 7"], Float[Tensor, "B 6"]]:
        """Placement (position, xyzw) and motion (of the centre of mass, angular) of every part."""
        # Newton takes angles out of rotations, which has no derivative at exactly zero.
        nudged = start.angles + 1e-4 * (start.angles.abs() < 1e-4)
        parts = part_motion(self.body, replace(start, angles=nudged).to(dtype=torch.float32))
        arm = quaternion.rotate(parts.rotations, (self.body.centres - self.body.pivots).float())
        linear = parts.speeds + torch.linalg.cross(parts.omegas, arm)
        places = torch.cat((parts.origins, parts.rotations[..., XYZW]), dim=-1)
        return places[0], torch.cat((linear, parts.omegas), dim=-1)[0]

    def _from_newton(
        self, places: Float[Tensor, "K B 7"], motions: Float[Tensor, "K B 6"]
    ) -> State:
        """Coordinates of the body. Rates of the joints are differences of their angles."""
        rotations = quaternion.normalize(places[..., 3:][..., WXYZ])
        above = rotations[:, list(self.body.parents[1:])]
        relative = quaternion.multiply(quaternion.conjugate(above), rotations[:, 1:])
        axes = self.body.axes[1:].float()
        wrapped = davenport.from_quaternion(axes, relative)
        # Whole turns are constants, and the other set of angles is never near: no joint goes there.
        angles = wrapped + (davenport.unwrap(axes, wrapped.detach()) - wrapped.detach())
        joint_velocity = torch.gradient(angles.detach(), spacing=self.parameters.step, dim=0)[0]
        arm = quaternion.rotate(
            rotations[:, 0], (self.body.centres[0] - self.body.pivots[0]).float()
        )
        angular_velocity = motions[:, 0, 3:]
        velocity = motions[:, 0, :3] - torch.linalg.cross(angular_velocity, arm)
        state = State(
            places[:, 0, :3], rotations[:, 0], angles, velocity, angular_velocity, joint_velocity
        )
        return State(*(part[None] for part in state.parts()))


def _padded(rows: Float[Tensor, "n C"], length: int) -> Float[Tensor, "m C"]:
    """Rows repeated at the end up to a length: the last chunk is as long as the others."""
    return torch.cat((rows, rows[-1:].expand(length - len(rows), -1)))


class _NewtonChunk(torch.autograd.Function):
    """A chunk of substeps; the adjoint of its input is cut to a norm on the way back."""

    @staticmethod
    def forward(
        ctx: Any, engine: _Chunk, clip: float | None, *inputs: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.engine, ctx.clip = engine, clip
        ctx.save_for_backward(*(part.detach().clone() for part in inputs))
        engine.forward(*(part.detach() for part in inputs))
        return engine.outputs()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        # Other chunks have used the engine since: this one is stepped again before its tape.
        ctx.engine.forward(*ctx.saved_tensors)
        places, motions, targets = ctx.engine.backward(*gradients)
        if ctx.clip is not None:
            norm = torch.sqrt(places.square().sum() + motions.square().sum())
            share = ctx.clip / norm.clamp_min(ctx.clip)
            places, motions = places * share, motions * share
            targets = targets * (ctx.clip / targets.norm().clamp_min(ctx.clip))
        return None, None, places, motions, targets, None


class _Chunk:
    """Newton's states of one chunk, its tape, and, where captured, the graphs of both passes."""

    def __init__(self, simulator: NewtonSimulator, *, capture: bool) -> None:
        import newton

        sim = simulator
        self.sim = sim
        self.model = build_newton_model(sim)
        p = sim.parameters
        mass, height = sim.body.mass, sim.body.height
        weight = mass * -p.gravity[1]
        # Springs that hold the joints together: forty weights a body height, damped.
        self.solver = newton.solvers.SolverSemiImplicit(
            self.model, angular_damping=0.0, friction_smoothing=1.0,
            joint_attach_ke=40.0 * weight / height,
            joint_attach_kd=1.5 * (weight * mass / height) ** 0.5,
        )  # fmt: skip
        steps = sim.chunk * sim.inner_steps
        self.states = [self.model.state(requires_grad=True) for _ in range(steps + 1)]
        self.controls = [self.model.control() for _ in range(sim.chunk)]
        self.targets = wp.zeros(
            (sim.chunk, self.model.joint_coord_count), dtype=float, requires_grad=True
        )
        for row, control in enumerate(self.controls):
            control.joint_target_q = self.targets[row]
        self.up = wp.zeros(sim.chunk, dtype=wp.vec3)
        self.contacts = corner_contacts(sim, self.model)
        self.tape = wp.Tape()
        self.captured: tuple[Any, Any] | None = None
        with self.tape:
            self._step()
        if capture:
            self.tape = wp.Tape()
            with wp.ScopedCapture(device=sim.device) as ahead, self.tape:
                self._step()
            with wp.ScopedCapture(device=sim.device) as back:
                self.tape.backward()
            self.captured = ahead.graph, back.graph
            self.tape.zero()

    def _step(self) -> None:
        sim, p = self.sim, self.sim.parameters
        inner = p.step / sim.inner_steps
        for k in range(len(self.states) - 1):
            state, row = self.states[k], k // sim.inner_steps
            state.clear_forces()
            if p.assist_limit > 0:
                apply_assist_torque(state, self.up, row, p)
            self.solver.step(state, self.states[k + 1], self.controls[row], self.contacts, inner)

    def forward(self, places: Tensor, motions: Tensor, targets: Tensor, up: Tensor) -> None:
        """Run the chunk from a placement and motion of the parts."""
        first = self.states[0]
        _view(first.body_q).copy_(places)
        _view(first.body_qd).copy_(motions)
        _view(self.targets)[:, 7:] = targets
        _view(self.up).copy_(up)
        if self.captured is not None:
            wp.capture_launch(self.captured[0])
            return
        self.tape = wp.Tape()
        with self.tape:
            self._step()

    def _ends(self) -> list[Any]:
        """The states at the end of each of our own substeps."""
        return self.states[self.sim.inner_steps :: self.sim.inner_steps]

    def outputs(self) -> tuple[Tensor, Tensor]:
        """Placements [n, B, 7] and motions [n, B, 6] after each substep."""
        ends = self._ends()
        return (
            torch.stack([_view(s.body_q) for s in ends]),
            torch.stack([_view(s.body_qd) for s in ends]),
        )

    def backward(self, g_places: Tensor, g_motions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Gradients of the chunk's input from those of its output."""
        for i, state in enumerate(self._ends()):
            _view(state.body_q.grad).copy_(g_places[i])
            _view(state.body_qd.grad).copy_(g_motions[i])
        if self.captured is not None:
            wp.capture_launch(self.captured[1])
        else:
            self.tape.backward()
        first = self.states[0]
        gradients = (
            _view(first.body_q.grad).clone(),
            _view(first.body_qd.grad).clone(),
            _view(self.targets.grad)[:, 7:].clone(),
        )
        self.tape.zero()
        return gradients


def _view(array: Any) -> Tensor:
    """A torch tensor on the memory of a Warp array."""
    return wp.to_torch(array, requires_grad=False)


def build_newton_model(sim: NewtonSimulator) -> Any:
    """The body in Newton: links of the cuboids' masses on three-axis joints, and the ground."""
    import newton

    body, p = sim.body, sim.parameters
    inner = p.step / sim.inner_steps
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=p.gravity)
    # Explicit contact: no stiffer and no more damped than a corner of the lightest part, which
    # turns more easily than it shifts, bears at this step.
    lightest = float(body.masses.min())
    damping = min(p.contact_damping, 0.05 * lightest / inner)
    material = newton.ModelBuilder.ShapeConfig(
        density=0.0, ke=min(p.contact_stiffness, 0.02 * lightest / inner**2), kd=damping,
        kf=damping, mu=p.friction,
    )  # fmt: skip
    joints = []
    for i, parent in enumerate(body.parents):
        centre = body.centres[i] - body.pivots[i]
        link = builder.add_link(
            com=wp.vec3(*centre.tolist()), mass=float(body.masses[i]),
            inertia=wp.mat33(*body.inertias[i].flatten().tolist()), lock_inertia=True,
        )  # fmt: skip
        turn = wp.quat(*body.orientations[i][XYZW].tolist())
        hx, hy, hz = body.half_extents[i].tolist()
        builder.add_shape_box(
            link, xform=wp.transform(wp.vec3(*centre.tolist()), turn), hx=hx, hy=hy, hz=hz,
            cfg=material,
        )  # fmt: skip
        if parent < 0:
            joints.append(builder.add_joint_free(child=link))
            continue
        # Explicit servos: what the shortest time of the part can bear.
        least = float(torch.linalg.eigvalsh(_about_pivot(body, i)).min())
        damping = min(p.damping, 0.3 * least / inner)
        stiffness = min(p.stiffness, 0.1 * least / inner**2)
        dof = newton.ModelBuilder.JointDofConfig
        angular = [
            dof(axis=axis, target_ke=stiffness, target_kd=damping)
            for axis in (newton.Axis.X, newton.Axis.Y, newton.Axis.Z)
        ]
        frame = quaternion.from_matrix(sim.axes[i - 1].T)[XYZW]
        frame = wp.quat(*frame.tolist())
        arm = wp.vec3(*(body.pivots[i] - body.pivots[parent]).tolist())
        joints.append(
            builder.add_joint_d6(
                parent=parent,
                child=link,
                angular_axes=angular,
                parent_xform=wp.transform(arm, frame),
                child_xform=wp.transform(wp.vec3(0.0, 0.0, 0.0), frame),
            )
        )
    builder.add_articulation(joints)
    builder.add_ground_plane(cfg=material)
    return builder.finalize(device=sim.device, requires_grad=True)


def _about_pivot(body: Body, part: int) -> Float[Tensor, "3 3"]:
    """Inertia of a part about its own pivot (parallel axes)."""
    arm = body.centres[part] - body.pivots[part]
    shift = (arm @ arm) * torch.eye(3, dtype=torch.float64) - torch.outer(arm, arm)
    return body.inertias[part] + body.masses[part] * shift


def corner_contacts(sim: NewtonSimulator, model: Any) -> Any:
    """A fixed list of contacts: every corner of every cuboid against the ground."""
    import newton

    body = sim.body
    count = body.corners.shape[0] * body.corners.shape[1]
    contacts = newton.CollisionPipeline(
        model, rigid_contact_max=count, requires_grad=False
    ).contacts()
    corners = (body.corners - body.pivots[:, None]).flatten(0, 1)
    parts = torch.arange(len(body)).repeat_interleave(8)

    def put(array: Any, values: Tensor) -> None:
        view = _view(array)
        view[:count] = values.to(view)

    put(contacts.rigid_contact_point0, torch.zeros(count, 3))
    put(contacts.rigid_contact_point1, corners)
    put(contacts.rigid_contact_normal, torch.tensor((0.0, 1.0, 0.0)).expand(count, 3))
    put(contacts.rigid_contact_shape0, torch.full((count,), model.shape_count - 1))
    put(contacts.rigid_contact_shape1, parts)
    put(contacts.rigid_contact_margin0, torch.zeros(count))
    put(contacts.rigid_contact_margin1, torch.zeros(count))
    _view(contacts.rigid_contact_count)[0] = count
    return contacts
