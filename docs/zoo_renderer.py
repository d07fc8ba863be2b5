"""A small offline ray tracer for the pictures of the zoo: sun, sky light and a checkered ground.

It is used for documentation only and needs `embreex`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from embreex import rtcore_scene
from embreex.mesh_construction import TriangleMesh

from akd.math.srgb import to_srgb


@dataclass
class Stage:
    """Triangles with colours, ready to be looked at. Y is up, the ground is y = 0."""

    vertices: list[np.ndarray] = field(default_factory=list)
    faces: list[np.ndarray] = field(default_factory=list)
    colours: list[np.ndarray] = field(default_factory=list)
    checker: float = 0.25
    sun: tuple[float, float, float] = (0.45, 0.9, 0.5)

    def add(self, vertices: np.ndarray, faces: np.ndarray, colours: np.ndarray) -> None:
        """Put a mesh on the stage; colours are linear RGB a vertex."""
        offset = sum(len(v) for v in self.vertices)
        self.vertices.append(np.asarray(vertices, np.float64))
        self.faces.append(np.asarray(faces) + offset)
        self.colours.append(np.asarray(colours, np.float64))

    def render(
        self,
        eye: np.ndarray,
        target: np.ndarray,
        *,
        size: tuple[int, int],
        fov: float | None = 30.0,
        height: float | None = None,
        samples: int = 2,
        sky_rays: int = 12,
        sun_rays: int = 4,
        seed: int = 0,
    ) -> np.ndarray:
        """Picture [H, W, 3], 8-bit sRGB. `fov` in degrees, or `height` metres if parallel."""
        rng = np.random.default_rng(seed)
        vertices, faces = np.concatenate(self.vertices), np.concatenate(self.faces)
        colours = np.concatenate(self.colours)
        normals = _normals(vertices, faces)
        scene = rtcore_scene.EmbreeScene()
        TriangleMesh(scene, vertices[faces].astype(np.float32))
        width, tall = size
        total = np.zeros((tall * width, 3))
        for sy in range(samples):
            for sx in range(samples):
                origins, rays = _rays(eye, target, size, fov, height,
                                      ((sx + 0.5) / samples, (sy + 0.5) / samples))  # fmt: skip
                total += self._shade(scene, vertices, faces, normals, colours, origins, rays,
                                     sky_rays, sun_rays, rng)  # fmt: skip
        linear = (total / samples**2).reshape(tall, width, 3)
        return (255 * _encode(linear) + 0.5).astype(np.uint8)

    def _shade(self, scene, vertices, faces, normals, colours, origins, rays, sky_rays, sun_rays,
               rng):  # fmt: skip
        size = float(np.ptp(vertices, axis=0).max())
        hit = scene.run(origins.astype(np.float32), rays.astype(np.float32), output=True)
        prim = hit["primID"]
        found = prim >= 0
        background = _sky(rays)
        ground_t = np.where(rays[:, 1] < -1e-6, -origins[:, 1] / np.minimum(rays[:, 1], -1e-6),
                            np.inf)  # fmt: skip
        body_t = np.where(found, hit["tfar"], np.inf)
        on_ground = ground_t < body_t
        found &= ~on_ground
        out = background
        if found.any():
            tri = faces[prim[found]]
            u, v = hit["u"][found, None], hit["v"][found, None]
            mix = lambda a: (1 - u - v) * a[tri[:, 0]] + u * a[tri[:, 1]] + v * a[tri[:, 2]]  # noqa: E731
            point = mix(vertices)
            normal = mix(normals)
            normal /= np.linalg.norm(normal, axis=1, keepdims=True).clip(1e-9)
            facing = (normal * rays[found]).sum(1) > 0
            normal[facing] -= (
                2
                * (normal[facing] * rays[found][facing]).sum(1, keepdims=True)
                * rays[found][facing]
            )
            out[found] = self._light(scene, point, normal, mix(colours), rays[found], sky_rays,
                                     sun_rays, rng, 1e-3 * size)  # fmt: skip
        if on_ground.any():
            point = origins[on_ground] + ground_t[on_ground, None] * rays[on_ground]
            cell = np.floor(point[:, [0, 2]] / self.checker).sum(1) % 2
            far = np.linalg.norm(point - vertices.mean(0), axis=1) / size
            tone = 0.50 + 0.07 * (cell - 0.5) * np.exp(-far)
            albedo = np.stack((tone, tone * 1.0, tone * 0.98), 1)
            normal = np.broadcast_to((0.0, 1.0, 0.0), point.shape)
            lit = self._light(scene, point, normal, albedo, rays[on_ground], sky_rays, sun_rays,
                              rng, 1e-3 * size, gloss=0.0)  # fmt: skip
            haze = np.clip((far - 1.0) / 4.0, 0, 1)[:, None]
            out[on_ground] = lit * (1 - haze) + background[on_ground] * haze
        return out

    def _light(self, scene, point, normal, albedo, rays, sky_rays, sun_rays, rng, step,
               gloss=0.012):  # fmt: skip
        start = (point + step * normal).astype(np.float32)
        sun = np.asarray(self.sun) / np.linalg.norm(self.sun)
        direct = np.zeros(len(point))
        for _ in range(sun_rays):
            toward = sun + 0.05 * rng.standard_normal((len(point), 3))
            toward /= np.linalg.norm(toward, axis=1, keepdims=True)
            free = scene.run(start, toward.astype(np.float32), query="OCCLUDED") < 0
            direct += free * np.maximum((normal * toward).sum(1), 0.0)
        direct /= sun_rays
        sky = np.zeros((len(point), 3))
        for _ in range(sky_rays):
            toward = normal + _sphere(rng, len(point))
            toward /= np.linalg.norm(toward, axis=1, keepdims=True).clip(1e-6)
            free = scene.run(start, toward.astype(np.float32), query="OCCLUDED") < 0
            above = toward[:, 1] > 0
            dome = np.where(above[:, None], (0.75, 0.86, 1.0), (0.40, 0.39, 0.37))
            sky += free[:, None] * dome
        sky /= sky_rays
        half = sun - rays
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        shine = gloss * np.maximum((normal * half).sum(1), 0.0) ** 24 * (direct > 0)
        sun_colour = np.array((1.0, 0.95, 0.86)) * 1.35
        light = direct[:, None] * sun_colour + 0.62 * sky
        return albedo * light + shine[:, None] * sun_colour * 4


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for i in range(3):
        np.add.at(total, faces[:, i], face)
    return total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-12)


def _rays(eye, target, size, fov, height, shift):
    width, tall = size
    eye, target = np.asarray(eye, float), np.asarray(target, float)
    forward = target - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    x = (np.arange(width) + shift[0]) / width - 0.5
    y = 0.5 - (np.arange(tall) + shift[1]) / tall
    gx, gy = np.meshgrid(x * width / tall, y)
    gx, gy = gx.reshape(-1, 1), gy.reshape(-1, 1)
    if height is not None:
        origins = eye + height * (gx * right + gy * up)
        return origins, np.broadcast_to(forward, origins.shape).copy()
    scale = 2 * np.tan(np.radians(fov) / 2)
    rays = forward + scale * (gx * right + gy * up)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return np.broadcast_to(eye, rays.shape).copy(), rays


def _sky(rays: np.ndarray) -> np.ndarray:
    t = np.clip(rays[:, 1:2] * 1.5 + 0.3, 0, 1)
    return (1 - t) * np.array((0.86, 0.89, 0.92)) + t * np.array((0.66, 0.77, 0.90))


def _sphere(rng: np.random.Generator, count: int) -> np.ndarray:
    v = rng.standard_normal((count, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True).clip(1e-6)


def _encode(linear: np.ndarray) -> np.ndarray:
    soft = 1.0 - np.exp(-1.15 * np.maximum(linear, 0.0))
    return to_srgb(torch.from_numpy(soft)).numpy()
