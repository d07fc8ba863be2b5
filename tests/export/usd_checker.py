"""The validators that come with usd-core."""

from pathlib import Path


def usd_errors(path: Path) -> list[str]:
    """What they find wrong with a file, stage and prims."""
    from pxr import Usd, UsdValidation

    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 20
    found = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    return [f"{error.GetName()}: {error.GetMessage()}" for error in found]
