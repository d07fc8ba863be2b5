# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets: per scene in the panel, per machine in the preferences."""

import bpy


class AkdSettings(bpy.types.PropertyGroup):
    """Settings of a scene."""

    prompt: bpy.props.StringProperty(
        name="Prompt", default="", description='What the character does, such as "a fox walking"'
    )
    prior: bpy.props.StringProperty(
        name="Prior", default="tiny", description="Video model: tiny, another name, or a folder"
    )
    seed: bpy.props.IntProperty(name="Seed", default=0, min=0)
    weights: bpy.props.StringProperty(
        name="Pose model", default="", subtype="FILE_PATH",
        description="A file of `akd pose train`; empty for the one that is installed",
    )  # fmt: skip


class AkdPreferences(bpy.types.AddonPreferences):
    """Where akd is, and options for every run."""

    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="akd", default="akd", subtype="FILE_PATH",
        description="The akd program, such as .venv/bin/akd",
    )  # fmt: skip
    options: bpy.props.StringProperty(
        name="Options", default="", description="More options of `akd animate`, such as --quick"
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Two lines."""
        self.layout.prop(self, "program")
        self.layout.prop(self, "options")


CLASSES = (AkdSettings, AkdPreferences)
