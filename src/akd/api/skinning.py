"""`skin`: weights by heat diffusion for a skeleton that a file brings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.export.reskin import write_reskinned
from akd.rig.character import Character
from akd.rig.skinning.automatic import AutomaticSkin, skin_character
from akd.rig.skinning.heat import HeatSettings


@dataclass(frozen=True)
class Skinning:
    """New weights for a character."""

    character: Character
    result: AutomaticSkin
    """The weights, the joints that have some, and what to check."""

    def save(self, path: str | Path) -> list[str]:
        """Write the character's file with the new weights, as GLB.

        Args:
            path: The file to write.

        Returns:
            One line for each part of the file that keeps its old weights, and why.
        """
        kept = write_reskinned(self.character, self.result.skin, Path(path))
        return [f"{problem.where}: {problem.what}; {problem.action}" for problem in kept]


def skin(
    character: Character | str | Path,
    *,
    influences: int = 4,
    heat: float = 4.0,
    all_joints: bool = False,
) -> Skinning:
    """Recompute the skinning weights of a rigged character by heat diffusion.

    Args:
        character: What `load` returned, or a glTF file with a skeleton.
        influences: Maximum number of joints per vertex, 1 to 64.
        heat: How sharply joints bend: larger is sharper.
        all_joints: Let every joint of the skeleton move skin, including those that move none in
            the file.

    Returns:
        The weights. `save` writes them; everything else in the file stays as it is.

    Raises:
        AssetError: The file cannot be read, or has no skeleton.
        ValueError: An argument is out of range, or no weights can be found.
    """
    if not 1 <= influences <= 64:
        raise ValueError(f"influences must be from 1 to 64, got {influences}")
    if not 0 < heat < 1e6:
        raise ValueError(f"heat must be above zero and below 1e6, got {heat:g}")
    character = loaded(character, up="y")
    asset = character.asset
    if asset.document is None or not asset.skins:
        raise AssetError(
            f"{asset.path}: has no skeleton to bind to; `akd rig` makes one for a bare mesh"
        )
    settings = HeatSettings(heat=heat, influences=influences)
    try:
        return Skinning(character, skin_character(character, settings=settings, is_all=all_joints))
    except ValueError as error:
        raise ValueError(f"{asset.path}: {error}") from None
