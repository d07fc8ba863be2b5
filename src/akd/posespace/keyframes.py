"""Keyframes: poses rendered as mesh and as skeleton, and given to an image-conditioned prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import bone_ends, kinematics
from akd.posespace.codec import PoseCodec
from akd.prior.protocol import KnownFrames, VideoPrior, takes_known_frames, with_known
from akd.prior.sample import latent_shape, sample_videos
from akd.rig.character import Character
from akd.rig.roles.role import Part, Role
from akd.scene.compose import render_scene
from akd.scene.follow import THREE_QUARTER, View, bounding_boxes, follow
from akd.scene.roles import bone_roles, role_colours
from akd.scene.settings import SceneSettings, SceneStyle
from akd.scene.video import Video, write_image
from akd.splat.camera import Camera
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats

_SPLATS = 20_000
_BACKGROUND = (24, 24, 28)
_MOST_PIXELS = 32_000_000
"""Of all keyframes together, which are rendered at once: about 1 GiB."""


@dataclass(frozen=True)
class Keyframes:
    """Images of poses from one camera, sRGB 0..1."""

    mesh: Float[Tensor, "K H W 3"]
    skeleton: Float[Tensor, "K H W 3"]
    neutral: Float[Tensor, "H W 3"]
    """The neutral pose, as the mesh."""

    def write(self, folder: Path) -> list[Path]:
        """Write `mesh_01.png`, `skeleton_01.png` and so on.

        Args:
            folder: The folder to write to.

        Returns:
            The files that were written.
        """
        return [
            write_image(folder / f"{kind}_{number:02}.png", image)
            for kind, images in (("mesh", self.mesh), ("skeleton", self.skeleton))
            for number, image in enumerate(images, start=1)
        ]


def check_pixels(count: int, size: tuple[int, int]) -> None:
    """Raise `ValueError` if this number of keyframes would take too much memory."""
    most = _MOST_PIXELS // (size[0] * size[1])
    if count > most:
        raise ValueError(
            f"keyframes of {size[0]} x {size[1]} pixels must be at most {most}, got {count}"
        )


def render_keyframes(
    character: Character,
    codec: PoseCodec,
    states: Float[Tensor, "K J 3"],
    *,
    size: tuple[int, int],
    style: SceneStyle = SceneStyle.TEXTURED,
    view: View = THREE_QUARTER,
) -> Keyframes:
    """Render poses with one camera that sees all of them.

    Args:
        character: The character.
        codec: Its codec.
        states: The poses.
        size: Width and height, pixels.
        style: How a prior wants the character coloured.
        view: Where the camera looks from.

    Raises:
        ValueError: The character has no mesh, or the images are too many for their size.
    """
    check_pixels(len(states), size)
    mesh = character.mesh
    if mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to show")
    lift = torch.eye(4)
    body = character.body_mesh or mesh  # a crossbow at its side is not what it stands on
    lift[1, 3] = -body.pose(codec.rig.neutral_world)[:, 1].min()
    cloud = surface_splats(mesh, _SPLATS, paint=Paint.of(character))
    world = torch.cat((codec.rig.world(codec.decode(states)), codec.rig.neutral_world[None]))
    bones = lift @ mesh.skin.bone_transforms(world)
    low, high = bounding_boxes(cloud, bones)
    low, high = low.amin(0, keepdim=True), high.amax(0, keepdim=True)
    width, height = size
    camera = follow(low, high, view, forward=character.forward, width=width, height=height)
    with torch.no_grad():
        seen = render_scene(
            cloud, bones, camera, settings=SceneSettings(style=style),
            body_height=character.height, bone_colours=role_colours(bone_roles(character)),
        )  # fmt: skip
    skeletons = _draw_skeletons(codec, states, camera, float(lift[1, 3]))
    return Keyframes(seen[:-1], skeletons, seen[-1])


def keyframe_videos(
    prior: VideoPrior,
    prompt: str,
    keyframes: Keyframes,
    *,
    seed: int = 0,
    steps: int = 40,
    scale: float = 6.0,
) -> Iterator[Video]:
    """Videos that a prior makes of keyframes.

    A prior whose latents are frames makes one video that passes through all keyframes, evenly
    spread over its time, with the neutral pose as its reference image; one that was trained with
    known frames is told which they are. Any other that takes an image makes one video from each
    keyframe on.

    Args:
        prior: The video model.
        prompt: What happens.
        keyframes: Of the prior's size and style.
        seed: Of the noise.
        steps: Steps from noise to video.
        scale: Guidance scale.

    Raises:
        ValueError: The prior takes no image, or cannot understand the prompt.
    """
    if not prior.takes_reference_image:
        raise ValueError(f"{prior.name} takes no image, only text")
    images, draw = keyframes.mesh.to(prior.device), torch.Generator().manual_seed(seed)

    def made(image: Tensor, through: KnownFrames | None = None) -> Video:
        condition = prior.condition(prompt, reference_image=image)
        known = None
        if through is not None:
            if takes_known_frames(prior):
                condition = with_known(prior, condition, through)
            known = through.mask[None, :, None, None, None], prior.encode(through.video[None])
        video = sample_videos(
            prior, [condition], generator=draw, steps=steps, scale=scale, known=known
        )
        return Video(video[0].float().cpu(), prior.fps)

    grey = torch.full((prior.frames, prior.height, prior.width, 3), 0.5, device=prior.device)
    if latent_shape(prior) == grey.shape:
        at = torch.linspace(0, prior.frames - 1, len(images)).round().long()
        mask = torch.zeros(prior.frames, dtype=torch.bool, device=prior.device)
        mask[at] = True
        grey[at] = images
        yield made(keyframes.neutral.to(prior.device), KnownFrames(grey, mask))
        return
    for image in images:
        yield made(image)


def _draw_skeletons(
    codec: PoseCodec, states: Float[Tensor, "K J 3"], camera: Camera, lift: float
) -> Float[Tensor, "K H W 3"]:
    """Bones as lines in the colours of their roles, the far ones first."""
    from PIL import Image, ImageDraw

    body, rig = codec.body.expand(len(states)), codec.rig
    places, turned = kinematics(body, states)
    up = rig.root_axes[0]

    def project(points: Tensor) -> tuple[Tensor, Tensor]:
        world = codec.in_world(points) + lift * up
        view = camera.camera_from_world[0]
        seen = world @ view[:3, :3].T + view[:3, 3]
        return camera.focal[0] * seen[..., :2] / seen[..., 2:] + camera.centre[0], seen[..., 2]

    (start, depth), (tips, _) = project(places), project(bone_ends(body, places, turned))
    colours = role_colours((Role(Part.PELVIS), *rig.roles)).mul(255.0).round().int().tolist()
    parents = codec.body.parents.tolist()
    thick = max(2, camera.height // 90)
    frames = []
    for pose in range(len(states)):
        image = Image.new("RGB", (camera.width, camera.height), _BACKGROUND)
        draw = ImageDraw.Draw(image)
        for token in depth[pose].argsort(descending=True).tolist():
            here = start[pose, token]
            ends = [start[pose, c] for c, p in enumerate(parents) if p == token and c != token]
            for end in ends or [tips[pose, token]]:
                line = [*here.tolist(), *end.tolist()]
                draw.line(line, fill=tuple(colours[token]), width=thick)
            x, y = here.tolist()
            draw.ellipse((x - thick, y - thick, x + thick, y + thick), fill=tuple(colours[token]))
        frames.append(torch.from_numpy(np.asarray(image, dtype=np.float32) / 255.0))
    return torch.stack(frames)
