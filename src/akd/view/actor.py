"""`Actor`: one clip in a browser's scene: surface, skeleton, names, Gaussians, contact forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import viser
from jaxtyping import Float

from akd.report.view_data import ContactForces
from akd.view.frames import FPS, ClipFrames
from akd.view.looks import Piece, Surface

_BONES, _FORCES = (20, 120, 220), (210, 40, 40)
_FORCE_HEIGHTS = 0.5
"""Body heights that the arrow of one body weight is long."""
THROUGH = 0.45
"""Opacity of a surface whose inside is to be seen."""
_FELT = 0.02
"""Body weights below which no arrow is drawn."""


@dataclass(frozen=True)
class Shown:
    """Which parts of an actor are shown."""

    surface: bool = True
    skeleton: bool = False
    names: bool = False
    gaussians: bool = False
    forces: bool = False


class Actor:
    """Scene nodes of one clip. Names of nodes are numbers: names in files may be anything."""

    def __init__(
        self,
        scene: viser.SceneApi,
        node: str,
        frames: ClipFrames,
        *,
        offset: Float[np.ndarray, "3"],
        tint: tuple[int, int, int] | None = None,
        opacity: float | None = None,
        forces: ContactForces | None = None,
        caption: str | None = None,
        over: Float[np.ndarray, "3"] | None = None,
    ) -> None:
        """Add the actor to a scene.

        Args:
            scene: A client's scene.
            node: Path of its nodes.
            frames: The clip.
            offset: Where it stands beside its place, metres.
            tint: One colour in place of the character's own (sRGB).
            opacity: Below 1 for a ghost.
            forces: Contact forces of the clip.
            caption: Written above it.
            over: Point of the ground that the root is kept over, metres; None lets it travel.
        """
        self.frames, self.offset = frames, offset
        self._scene, self._node, self._forces = scene, node, forces
        self._caption, self._over = caption, over
        self._height = frames.looks.character.height
        self._frame = scene.add_frame(node, show_axes=False, position=offset)
        self._tint, self._opacity = tint, opacity
        self._made: dict[str, list[Any]] = {}
        self._now = -1
        self._shown = Shown()

    def show(self, seconds: float, shown: Shown) -> None:
        """Show the pose at a time. Parts are added to the scene when they are first shown."""
        frame = self.frames.frame(seconds)
        if frame == self._now and shown == self._shown:
            return
        self._now, self._shown = frame, shown
        if self._over is not None:
            self._frame.position = self.place(frame)
        # Bones are seen through a surface of one piece, which a ghost has anyway.
        has_pieces = self.frames.looks.surface is not None and self._tint is None
        through = shown.skeleton and has_pieces
        parts = {
            "surface": shown.surface and not through, "shell": shown.surface and through,
            "skeleton": shown.skeleton, "names": shown.names, "gaussians": shown.gaussians,
            "forces": shown.forces, "caption": self._caption is not None,
        }  # fmt: skip
        for part, wanted in parts.items():
            nodes = self._made.get(part)
            if nodes is None and wanted:
                nodes = self._made[part] = getattr(self, f"_add_{part}")(frame)
            for handle in nodes or ():
                if handle.visible != wanted:
                    handle.visible = wanted
            if nodes and wanted:
                getattr(self, f"_move_{part}")(nodes, frame)

    def place(self, frame: int) -> Float[np.ndarray, "3"]:
        """How far it stands from where the clip has it, metres."""
        if self._over is None:
            return self.offset
        root = self.frames.joints(frame)[self.frames.looks.character.control_rig.root]
        return (self._over - root) * (1.0, 0.0, 1.0)

    def remove(self) -> None:
        """Take it out of the scene."""
        self._frame.remove()

    def _add_surface(self, frame: int) -> list[Any]:
        surface, points = self.frames.looks.surface, self.frames.points(frame)
        if surface is None:
            return self._add_skeleton(frame, "bare")
        if self._tint is not None:
            return self._add_shell(frame)
        return [
            self._scene.add_mesh_simple(
                f"{self._node}/surface/{number}", points[piece.points], piece.faces,
                color=piece.colour, side="double",
            )
            for number, piece in enumerate(surface.pieces)
        ]  # fmt: skip

    def _move_surface(self, nodes: list[Any], frame: int) -> None:
        surface, points = self.frames.looks.surface, self.frames.points(frame)
        if surface is None:
            self._move_skeleton(nodes, frame)
            return
        for handle, piece in zip(nodes, self._pieces(surface), strict=True):
            handle.vertices = points[piece.points]

    def _pieces(self, surface: Surface) -> tuple[Piece, ...]:
        return surface.pieces if self._tint is None else surface.whole

    def _add_shell(self, frame: int) -> list[Any]:
        surface, points = self.frames.looks.surface, self.frames.points(frame)
        assert surface is not None
        (piece,) = surface.whole
        return [
            self._scene.add_mesh_simple(
                f"{self._node}/shell", points[piece.points], piece.faces,
                color=self._tint or piece.colour, opacity=self._opacity or THROUGH,
                cast_shadow=self._opacity is None,
            )
        ]  # fmt: skip

    def _move_shell(self, nodes: list[Any], frame: int) -> None:
        surface = self.frames.looks.surface
        assert surface is not None
        nodes[0].vertices = self.frames.points(frame)[surface.whole[0].points]

    def _add_skeleton(self, frame: int, name: str = "skeleton") -> list[Any]:
        return [
            self._scene.add_line_segments(
                f"{self._node}/{name}", self.frames.bones(frame), self._tint or _BONES,
                thickness=3.0, thickness_units="screen",
            )
        ]  # fmt: skip

    def _move_skeleton(self, nodes: list[Any], frame: int) -> None:
        nodes[0].points = self.frames.bones(frame)

    def _named(self) -> list[int]:
        rig = self.frames.looks.character.control_rig
        return [rig.root, *rig.joints]

    def _add_names(self, frame: int) -> list[Any]:
        places, names = self.frames.joints(frame), self.frames.motion.skeleton.names
        return [
            self._scene.add_label(
                f"{self._node}/names/{joint}", names[joint], position=places[joint],
                font_screen_scale=0.75,
            )
            for joint in self._named()
        ]  # fmt: skip

    def _move_names(self, nodes: list[Any], frame: int) -> None:
        places = self.frames.joints(frame)
        for handle, joint in zip(nodes, self._named(), strict=True):
            handle.position = places[joint]

    def _add_caption(self, frame: int) -> list[Any]:
        assert self._caption is not None
        return [
            self._scene.add_label(
                f"{self._node}/caption", self._caption, position=self._above(frame),
                anchor="bottom-center", depth_test=False,
            )
        ]  # fmt: skip

    def _move_caption(self, nodes: list[Any], frame: int) -> None:
        nodes[0].position = self._above(frame)

    def _above(self, frame: int) -> Float[np.ndarray, "3"]:
        """A point over the head that neither bobs nor lags."""
        x, _, z = self.frames.path[frame]
        return np.array((x, 1.15 * self._height, z))

    def _add_gaussians(self, frame: int) -> list[Any]:
        cloud, posed = self.frames.looks.cloud, self.frames.gaussians(frame)
        if cloud is None or posed is None:
            return []
        return [
            self._scene.add_gaussian_splats(
                f"{self._node}/gaussians", *posed,
                cloud.flat_colours().clamp(0.0, 1.0).numpy(force=True),
                cloud.opacities[:, None].numpy(force=True),
            )
        ]  # fmt: skip

    def _move_gaussians(self, nodes: list[Any], frame: int) -> None:
        cloud, posed = self.frames.looks.cloud, self.frames.gaussians(frame)
        if cloud is not None and posed is not None:
            colours = cloud.flat_colours().clamp(0.0, 1.0).numpy(force=True)
            nodes[0].set_gaussians(*posed, colours, cloud.opacities[:, None].numpy(force=True))

    def _add_forces(self, frame: int) -> list[Any]:
        if self._forces is None:
            return []
        size = 0.012 * self._height
        return [
            self._scene.add_arrows(
                f"{self._node}/forces", self._arrows(frame), _FORCES, shaft_radius=size,
                head_radius=2.5 * size, head_length=4 * size,
            )
        ]  # fmt: skip

    def _move_forces(self, nodes: list[Any], frame: int) -> None:
        nodes[0].points = self._arrows(frame)

    def _arrows(self, frame: int) -> Float[np.ndarray, "N 2 3"]:
        """From the ground to where the force points; as short as nothing where there is none."""
        forces = self._forces
        assert forces is not None
        at = min(round(frame / FPS * forces.fps), len(forces.forces) - 1)
        push = forces.forces[at]
        felt = np.linalg.norm(push, axis=-1, keepdims=True) > _FELT
        reach = np.where(felt, push * _FORCE_HEIGHTS, (0.0, 1e-6, 0.0)) * self._height
        # Parts that touch nothing keep their arrow under the ground.
        foot = np.where(felt, forces.points[at], (0.0, -self._height, 0.0))
        return np.stack((foot, foot + reach), axis=1)
