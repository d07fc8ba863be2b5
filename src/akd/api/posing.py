"""`poses` and `keyframes`: the plausible poses of a character, as clips and as images."""

from __future__ import annotations

from pathlib import Path

from jaxtyping import Float
from torch import Tensor, linspace

from akd.api.clips import Clip, find_motion
from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.export.character import write_motions
from akd.posespace.keyframes import Keyframes, render_keyframes
from akd.posespace.space import PoseSpace
from akd.prior.protocol import VideoPrior
from akd.rig.character import Character
from akd.scene.follow import THREE_QUARTER, View
from akd.scene.settings import SceneStyle
from akd.scene.video import Video


def poses(character: Character | str | Path, *, weights: Path | str | None = None) -> PoseSpace:
    """The pose space of a character: sample, score, project, interpolate, and solve IK.

    Args:
        character: What `load` returned, or a file.
        weights: A pose model of `akd pose train`; the one that ships if left out.

    Returns:
        The pose space. States of poses are [N, tokens, 3]; `codec.motion` makes a `Motion` of them.

    Raises:
        AssetError: The file cannot be read, or has no joints to pose.
        FileNotFoundError: There are no such weights.
        ValueError: The weights are of another format.
    """
    character = loaded(character)
    if len(character.control_rig) < 1:
        raise AssetError(f"{character.asset.path}: has no joints to pose; `akd rig` makes some")
    return PoseSpace.of(character, None if weights is None else Path(weights))


def clip_states(
    character: Character, space: PoseSpace, clip: Clip = None, *, fps: float = 24.0
) -> Float[Tensor, "T J 3"]:
    """The poses of a clip as states of the pose space.

    Args:
        character: Whose clip.
        space: Its pose space.
        clip: A motion, or a clip's name; may be omitted if there is only one clip.
        fps: Poses per second.

    Raises:
        ValueError: There is no such clip, or it holds numbers that are not finite.
    """
    if not fps > 0:
        raise ValueError(f"fps must be above zero, got {fps:g}")
    motion = find_motion(character, clip).resample(fps)
    states = space.codec.encode(space.codec.rig.from_pose(motion.pose))
    if not bool(states.isfinite().all()):
        raise ValueError(f"{character.asset.path}: the clip holds numbers that are not finite")
    return states


def pose_at(character: Character, space: PoseSpace, text: str) -> Float[Tensor, "J 3"]:
    """The state of the pose that `CLIP@SECONDS` names, to a hundredth of a second.

    Raises:
        ValueError: The text is of another form, or there is no such clip or time.
    """
    clip, mark, seconds = text.rpartition("@")
    try:
        frame = round(100.0 * float(seconds)) if mark else 0
    except (ValueError, OverflowError):
        raise ValueError(f"a pose must be CLIP@SECONDS, got {text!r}") from None
    states = clip_states(character, space, clip if mark else text, fps=100.0)
    if not 0 <= frame < len(states):
        raise ValueError(f"{text!r}: the clip is {len(states) / 100.0:.2f} s long")
    return states[frame]


def save_poses(
    character: Character,
    space: PoseSpace,
    states: Float[Tensor, "K J 3"],
    out: str | Path,
    *,
    name: str = "poses",
    apart: bool = False,
) -> list[Path]:
    """Write `poses.glb`, the character's file with the poses added, and `poses.png`, a sheet.

    Args:
        character: The character.
        space: Its pose space.
        states: The poses.
        out: The folder.
        name: Of the clip.
        apart: Make a clip of one frame of each pose, in place of one clip of all.

    Returns:
        The files that were written; there is no sheet without a mesh.
    """
    out, codec = Path(out), space.codec
    motions = [codec.motion(states, name=name)]
    if apart:
        motions = [
            codec.motion(state[None], name=f"{name} {k}") for k, state in enumerate(states, start=1)
        ]
    written = [out / "poses.glb"]
    write_motions(character, motions, written[0])
    if character.mesh is not None:
        some = states[linspace(0, len(states) - 1, min(8, len(states))).round().long()]
        images = keyframes(character, space, some, size=(240, 240)).mesh
        written.append(Video(images, 24.0).write_strip(out / "poses.png", count=len(images)))
    return written


def keyframes(
    character: Character,
    space: PoseSpace,
    states: Float[Tensor, "K J 3"],
    *,
    prior: VideoPrior | None = None,
    size: tuple[int, int] = (720, 480),
    view: View = THREE_QUARTER,
) -> Keyframes:
    """Images of poses from one camera, as mesh and as skeleton.

    Args:
        character: The character.
        space: Its pose space.
        states: The poses.
        prior: A video model: the images have the size and style that it asks for.
        size: Width and height, pixels, without a prior.
        view: Where the camera looks from.

    Returns:
        The images; `write` saves them, and `akd.posespace.keyframes.keyframe_videos` gives
        them to the prior.

    Raises:
        ValueError: The character has no mesh, or the images are too many for their size.
    """
    style = SceneStyle.TEXTURED if prior is None else prior.style
    size = size if prior is None else (prior.width, prior.height)
    return render_keyframes(character, space.codec, states, size=size, style=style, view=view)
