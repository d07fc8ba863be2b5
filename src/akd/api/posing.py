"""`poses` and `keyframes`: the plausible poses of a character, and images of them."""

from __future__ import annotations

from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.posespace.keyframes import Keyframes, render_keyframes
from akd.posespace.space import PoseSpace
from akd.prior.protocol import VideoPrior
from akd.rig.character import Character
from akd.scene.follow import THREE_QUARTER, View
from akd.scene.settings import SceneStyle


def poses(character: Character | str | Path, *, weights: Path | str | None = None) -> PoseSpace:
    """The plausible poses of a character, to sample, score, project, interpolate and solve for.

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
        character: Who is posed.
        space: Its pose space.
        states: The poses.
        prior: A video model: the images have the size and style that it asks for.
        size: Width and height, pixels, without a prior.
        view: Where the camera looks from.

    Returns:
        The images; `write` makes files of them, and `akd.posespace.keyframes.keyframe_videos` gives
        them to the prior.

    Raises:
        ValueError: The character has no mesh.
    """
    style = SceneStyle.TEXTURED if prior is None else prior.style
    size = size if prior is None else (prior.width, prior.height)
    return render_keyframes(character, space.codec, states, size=size, style=style, view=view)
