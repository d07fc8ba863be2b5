"""A character's surface as pieces of one colour each, which is what viser's meshes can show.

viser has no mesh that is both textured and deformed: `add_mesh_skinned` and `add_mesh_simple` have
one colour, and a textured GLB cannot be posed. So triangles with a texture are divided, each takes
the texture's mean colour over it, and those of one colour form a piece. Posed vertices are sent, so
that a vertex follows all its bones, not only the four that viser would skin it with. They are sent
every frame, so a surface with more triangles than `TRIANGLES` is reduced to that, unless all are
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from PIL import Image
from torch import Tensor

from akd.math.srgb import to_srgb
from akd.rig.character import Character
from akd.rig.mesh import SkinnedMesh
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats
from akd.view.coarsen import coarsen

_COLOURS = 16
"""Pieces at most: each is a message and a draw call a frame."""
TRIANGLES = 24_000
"""Shown at most. Textured surfaces are divided up to this many, larger ones are reduced to it."""
_FINEST = 6
"""Parts that an edge is divided into at most."""
_SPLATS = 12_000


@dataclass(frozen=True)
class Piece:
    """Triangles of one colour."""

    points: Int[np.ndarray, "v"]
    """Of the surface's points."""
    faces: Int[np.ndarray, "f 3"]
    """Into `points`."""
    colour: tuple[int, int, int]
    """sRGB."""


@dataclass(frozen=True)
class Surface:
    """Points on the triangles of a mesh, and the coloured pieces between them."""

    mesh: SkinnedMesh
    corners: Int[Tensor, "U 3"]
    """Vertices of the mesh that each point lies between."""
    shares: Float[Tensor, "U 3"]
    """Its barycentric coordinates."""
    pieces: tuple[Piece, ...]
    reduced_from: int | None = None
    """Triangles that the character has, where fewer are shown."""

    @property
    def note(self) -> str:
        """A note for the user; empty where the mesh is shown unchanged."""
        if self.reduced_from is None:
            return ""
        count = sum(len(piece.faces) for piece in self.pieces)
        return f"Shown with {count:,} of {self.reduced_from:,} triangles. Files keep all of them."

    @cached_property
    def whole(self) -> tuple[Piece, ...]:
        """All triangles as one piece, to see through: several pieces would hide one another."""
        used, faces = np.unique(
            np.concatenate([piece.points[piece.faces] for piece in self.pieces]),
            return_inverse=True,
        )
        counts = [len(piece.faces) for piece in self.pieces]
        mean = np.average([piece.colour for piece in self.pieces], axis=0, weights=counts)
        colour = (int(mean[0]), int(mean[1]), int(mean[2]))
        return (Piece(used, faces.reshape(-1, 3), colour),)

    def pose(self, world_from_joint: Float[Tensor, "J 4 4"]) -> Float[np.ndarray, "U 3"]:
        """The points in the world, metres."""
        posed = self.mesh.pose(world_from_joint)
        return (posed[self.corners] * self.shares[..., None]).sum(1).float().numpy(force=True)


@dataclass(frozen=True)
class Looks:
    """How a character looks: made once, shown by every browser."""

    character: Character
    most_triangles: int | None = TRIANGLES
    """Surfaces with more triangles are decimated to this number; None keeps all."""

    @cached_property
    def surface(self) -> Surface | None:
        """Its coloured surface; None for a bare skeleton."""
        mesh, paint = self.character.mesh, Paint.of(self.character)
        if mesh is None or paint is None:
            return None
        return paint_surface(mesh, paint, most_triangles=self.most_triangles)

    @cached_property
    def cloud(self) -> SplatCloud | None:
        """Gaussians on its surface; None for a bare skeleton."""
        mesh = self.character.mesh
        if mesh is None:
            return None
        return surface_splats(mesh, _SPLATS, paint=Paint.of(self.character))


def paint_surface(
    mesh: SkinnedMesh, paint: Paint, *, most_triangles: int | None = TRIANGLES
) -> Surface:
    """Divide a mesh into pieces of one colour.

    Textured triangles are divided first. A mesh of more than `most_triangles` is coarsened: what is
    left of a triangle keeps its colour.
    """
    shown, owner = mesh, torch.arange(len(mesh.faces))
    if most_triangles is not None and len(owner) > most_triangles:
        shown, faces, owner = coarsen(mesh, most_triangles)
    else:  # the browser shades smoothly between triangles that share a vertex
        faces = mesh.smooth_vertices()[mesh.faces].numpy(force=True)
    parts = 1
    if paint.textures:
        parts = int(np.clip((TRIANGLES / max(len(faces), 1)) ** 0.5, 1, _FINEST))
    lattice, small = divide_triangle(parts)
    middles = torch.from_numpy(lattice[small].mean(1)).float().repeat(len(faces), 1)  # [F * f, 3]
    corner = shown.vertices[torch.from_numpy(faces)]
    area = torch.linalg.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]).norm(dim=-1)
    size = (0.5 * area / len(small)).sqrt().repeat_interleave(len(small))
    rgba = paint.at(mesh, owner.repeat_interleave(len(small)), middles, size)
    rgb = (255.0 * to_srgb(rgba[:, :3])).round().byte().numpy(force=True)
    corners, shares, triangles = _points(faces, lattice, small)
    solid = (rgba[:, 3] > 0.5).numpy(force=True)
    labels, palette = _palette(rgb)
    pieces = []
    for label, colour in enumerate(palette):
        if not (chosen := solid & (labels == label)).any():
            continue
        used, faces = np.unique(triangles[chosen], return_inverse=True)
        pieces.append(Piece(used, faces.reshape(-1, 3), colour))
    return Surface(
        shown, torch.from_numpy(corners), torch.from_numpy(shares).float(), tuple(pieces),
        reduced_from=None if shown is mesh else len(mesh.faces),
    )  # fmt: skip


def divide_triangle(parts: int) -> tuple[Float[np.ndarray, "p 3"], Int[np.ndarray, "f 3"]]:
    """Barycentric lattice of a triangle whose edges are cut into `parts`, and its triangles."""
    place = {}
    for i in range(parts + 1):
        for j in range(parts + 1 - i):
            place[i, j] = len(place)
    lattice = np.array([(parts - i - j, i, j) for i, j in place]) / parts
    faces = []
    for (i, j), first in place.items():
        if i + j < parts:
            faces.append((first, place[i + 1, j], place[i, j + 1]))
        if i + j < parts - 1:
            faces.append((place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]))
    return lattice, np.array(faces)


def _points(
    faces: Int[np.ndarray, "F 3"], lattice: Float[np.ndarray, "p 3"], small: Int[np.ndarray, "f 3"]
) -> tuple[Int[np.ndarray, "U 3"], Float[np.ndarray, "U 3"], Int[np.ndarray, "T 3"]]:
    """Points of all divided triangles, those on a shared edge once, and triangles between them."""
    parts = round(1.0 / lattice[lattice > 0].min())
    share = np.rint(lattice * parts).astype(np.int64)
    corners = np.repeat(faces[:, None], len(lattice), axis=1).reshape(-1, 3)
    shares = np.tile(share, (len(faces), 1))
    # One name for a point, whichever triangle it is seen from.
    named = np.where(shares > 0, corners, -1)
    order = np.argsort(named, axis=1, kind="stable")
    key = np.concatenate(
        [np.take_along_axis(named, order, 1), np.take_along_axis(shares, order, 1)], axis=1
    )
    _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
    number = number.reshape(len(faces), len(lattice))
    return corners[first], shares[first] / parts, number[:, small].reshape(-1, 3)


def _palette(
    rgb: UInt8[np.ndarray, "N 3"],
) -> tuple[UInt8[np.ndarray, "N"], list[tuple[int, int, int]]]:
    """A few colours that stand for all, and which of them each row is.

    By maximum coverage, then k-means: median cut goes by area alone, and would give a small part of
    the body, such as a parrot on a shoulder, the mean of colours that are nothing alike.
    """
    image = Image.fromarray(rgb[None]).quantize(
        _COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    labels = np.asarray(image)[0]
    colours = []
    for label in range(int(labels.max()) + 1):
        own = rgb[labels == label]
        colours.append(tuple(int(c) for c in own.mean(0).round()) if len(own) else (0, 0, 0))
    return labels, colours
