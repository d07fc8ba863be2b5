# SPDX-License-Identifier: GPL-3.0-or-later
"""Animate the selected armature from a sentence, by running `akd` as a separate process."""

import bpy

from . import operators, panel, settings

_CLASSES = (*settings.CLASSES, *operators.CLASSES, *panel.CLASSES)


def register() -> None:
    """Add the classes and the settings of a scene."""
    for each in _CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Scene.akd = bpy.props.PointerProperty(type=settings.AkdSettings)


def unregister() -> None:
    """Remove them, and stop a job that runs."""
    operators.stop_job()
    del bpy.types.Scene.akd
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
