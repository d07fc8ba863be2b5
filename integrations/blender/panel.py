# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the sidebar of the 3D view."""

import bpy

from . import operators


class AKD_PT_animate(bpy.types.Panel):
    """Prompt, prior and seed; start, cancel, ground, and poses."""

    bl_label = "akd"
    bl_idname = "AKD_PT_animate"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "akd"

    def draw(self, context: bpy.types.Context) -> None:
        """Buttons, or the progress of the job that runs."""
        layout, given = self.layout, context.scene.akd
        if (job := operators.running_job()) is not None:
            layout.label(text=job.status or "Starting", icon="TIME")
            layout.operator("akd.cancel", icon="CANCEL")
            return
        if operators.find_program(context) is None:
            box = layout.box()
            box.label(text="The akd program is not found.", icon="ERROR")
            box.label(text="Install it, then set its path:")
            box.operator("preferences.addon_show", text="Preferences").module = __package__
        layout.prop(given, "prompt")
        row = layout.row(align=True)
        row.prop(given, "prior", text="")
        row.prop(given, "seed")
        layout.operator("akd.animate", icon="PLAY")
        layout.operator("akd.ground", icon="CON_FLOOR")
        layout.separator()
        layout.prop(given, "weights", text="Poses")
        layout.operator("akd.reach", icon="CON_KINEMATIC")


CLASSES = (AKD_PT_animate,)
