# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, watch and stop akd; bring back what it made."""

import os
import shlex
import shutil

import bpy

from .job import Job
from .transfer import clip_names, export_armature, import_actions

_SECONDS_BETWEEN_LOOKS = 0.2
_DONE = (0, 3)
"""Exit codes: done, and done with a result that fails its own conditions."""

_jobs: list[Job] = []
"""The one that runs, or none."""


def running_job() -> Job | None:
    """The job that runs."""
    return _jobs[0] if _jobs else None


def stop_job() -> None:
    """Stop the job that runs, if any."""
    while _jobs:
        _jobs.pop().close()


def selected_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature that is active, or that the active mesh hangs on."""
    active = context.active_object
    if active is None or active.type == "ARMATURE":
        return active
    return active.find_armature()


def preferences(context: bpy.types.Context) -> bpy.types.AddonPreferences:
    """Of this extension."""
    return context.preferences.addons[__package__].preferences


def find_program(context: bpy.types.Context) -> str | None:
    """Path of akd as the preferences name it; None where there is no such program."""
    found = shutil.which(bpy.path.abspath(preferences(context).program))
    return None if found is None else os.path.abspath(found)  # it is run in another folder


class _Run:
    """Operators that export the armature, run akd and import its clip."""

    with_action = False
    _timer = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an armature and nothing runs."""
        return not _jobs and selected_armature(context) is not None

    def words(self, context: bpy.types.Context, running: Job) -> list[str]:
        """Arguments of akd. Raises `ValueError` where something is missing."""
        raise NotImplementedError

    def begin(self, context: bpy.types.Context) -> bool:
        """Export and start; report and return False where that fails."""
        armature, program = selected_armature(context), find_program(context)
        if program is None:
            named = preferences(context).program
            self.report(
                {"ERROR"}, f"akd: there is no program {named!r}; install akd, and "
                "set its path in the preferences of this extension",
            )  # fmt: skip
            return False
        running = Job(program, armature.name)
        try:
            words = self.words(context, running)
            export_armature(armature, running.character, with_action=self.with_action)
            running.start(*words)
        except (OSError, ValueError, RuntimeError) as error:
            running.close()
            self.report({"ERROR"}, f"akd: {error}")
            return False
        _jobs.append(running)
        return True

    def finish(self, context: bpy.types.Context) -> set[str]:
        """Bring the clip back, or say why there is none."""
        running = _jobs[0]
        try:
            result = running.result()
            if running.exit_code not in _DONE or result is None:
                self.report({"ERROR"}, running.status or f"akd ended with {running.exit_code}")
                return {"CANCELLED"}
            names = set(clip_names(result)) - set(clip_names(running.character))
            made = import_actions(context.scene.objects[running.armature], result, names)
            self.report({"INFO"}, f"akd: {', '.join(action.name for action in made)}")
            return {"FINISHED"}
        except (RuntimeError, ValueError, KeyError, StopIteration, OSError) as error:
            self.report({"ERROR"}, f"akd: the clip cannot be brought back: {error}")
            return {"CANCELLED"}
        finally:
            stop_job()

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run to the end, for scripts."""
        if not self.begin(context):
            return {"CANCELLED"}
        while _jobs[0].wait(1.0) is None:
            pass
        return self.finish(context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Run beside Blender, for people."""
        if not self.begin(context):
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(_SECONDS_BETWEEN_LOOKS, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Show progress in the status bar until the process ends."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        job = running_job()
        if job is not None and job.exit_code is None:
            context.workspace.status_text_set(f"akd: {job.status or 'starting'}")
            for area in context.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()
            return {"PASS_THROUGH"}
        context.workspace.status_text_set(None)
        context.window_manager.event_timer_remove(self._timer)
        if job is None:
            self.report({"INFO"}, "akd: stopped")
            return {"CANCELLED"}
        return self.finish(context)


class AKD_OT_animate(_Run, bpy.types.Operator):
    """Animate the selected armature from the prompt"""

    bl_idname = "akd.animate"
    bl_label = "Animate"

    def words(self, context: bpy.types.Context, running: Job) -> list[str]:
        """`akd animate`."""
        given = context.scene.akd
        if not given.prompt.strip():
            raise ValueError("type a prompt first")
        return [
            "animate", str(running.character), given.prompt, "-o", str(running.out),
            "--prior", given.prior, "--seed", str(given.seed),
            *shlex.split(preferences(context).options),
        ]  # fmt: skip


class AKD_OT_ground(_Run, bpy.types.Operator):
    """Bring the current Action down to the ground by physics"""

    bl_idname = "akd.ground"
    bl_label = "Ground Action"
    with_action = True

    def words(self, context: bpy.types.Context, running: Job) -> list[str]:
        """`akd ground`."""
        data = selected_armature(context).animation_data
        if data is None or data.action is None:
            raise ValueError("the armature has no Action")
        fps = context.scene.render.fps / context.scene.render.fps_base
        return ["ground", str(running.character), "-o", str(running.out), "--fps", f"{fps:g}"]


class AKD_OT_reach(_Run, bpy.types.Operator):
    """Pose the body so that the active bone is at the 3D cursor, within the pose space"""

    bl_idname = "akd.reach"
    bl_label = "Reach 3D Cursor"

    def words(self, context: bpy.types.Context, running: Job) -> list[str]:
        """`akd pose ik`."""
        bone = selected_armature(context).data.bones.active
        if bone is None:
            raise ValueError("make a bone active first")
        x, y, z = context.scene.cursor.location
        weights = context.scene.akd.weights
        return [
            "pose", "ik", str(running.character), "-o", str(running.out),
            "--seed", str(context.scene.akd.seed),
            "--file-units", "--handle", f"{bone.name}={x:.6g},{z:.6g},{-y:.6g}",
            *(("--weights", bpy.path.abspath(weights)) if weights else ()),
        ]  # fmt: skip


class AKD_OT_cancel(bpy.types.Operator):
    """Stop akd"""

    bl_idname = "akd.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Whether something runs."""
        return bool(_jobs)

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Stop it."""
        stop_job()
        return {"FINISHED"}


CLASSES = (AKD_OT_animate, AKD_OT_ground, AKD_OT_reach, AKD_OT_cancel)
