"""Pose mode: drag a joint, pin others, keep keyframes, save a clip."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import viser
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.export.character import write_motions
from akd.motion.motion import Motion
from akd.view.actor import THROUGH
from akd.view.content import Subject
from akd.view.editor import PoseEditor
from akd.view.events import by_user
from akd.view.frames import FPS

if TYPE_CHECKING:
    from akd.view.session import Session

_NODE = "/pose"
_NONE = "none yet"
"""In the list of keyframes."""
_OFF = "Turn it on to drag the body by its joints and make a clip of poses."
_STEP = 0.5
"""Seconds from a keyframe to the next one that is suggested."""
_FREE, _PINNED, _CHOSEN = (90, 110, 130), (210, 60, 50), (240, 180, 30)


class PosePanel:
    """Controls of pose mode, and the posed body in the scene while it is on."""

    def __init__(self, session: Session) -> None:
        self.session = session
        gui = session.client.gui
        self.editor: PoseEditor | None = None
        self._subject: Subject | None = None
        self._pinned: set[int] = set()
        self._token = 0
        self._saved: set[Path] = set()
        """Files that this browser made."""
        self._labels: list[str] = []
        """Of the joints that can be dragged, as the list shows them."""
        self._body: viser.MeshHandle | None = None
        self._dots: dict[int, Any] = {}
        self._gizmo: viser.TransformControlsHandle | None = None
        self._busy = Lock()
        self._wanted: np.ndarray | None = None
        self._before: PoseEditor | None = None
        """The editor whose keyframes were just saved."""
        self._stop: Event | None = None
        """Ends the preview that runs."""
        self.on = gui.add_checkbox("Pose mode", False)
        self._says = gui.add_markdown(_OFF)
        joints: list[str] = ["none"]  # until pose mode is on
        self._joint = gui.add_dropdown("Joint", joints, initial_value=joints[0])
        self._pin = gui.add_checkbox("Pin this joint", False)
        self._hold = gui.add_checkbox(
            "Hold other ends", True, hint="feet, hands, head and tail that are not dragged stay"
        )
        self._stand = gui.add_checkbox(
            "Feet stand", True, hint="feet on the ground stay there where the handle allows it"
        )
        self._change = gui.add_button_group(
            "Pose", ["undo", "mirror", "neutral"], hint="Ctrl+Z undoes; mirror exchanges sides"
        )
        self._reference = gui.add_checkbox(
            "Clip as ghost", False, hint="the clip at the frame chosen above, standing in place"
        )
        self._reset = gui.add_button("Take the clip's pose at this frame")
        self._at = gui.add_number("Keyframe time, s", 0.0, min=0.0, max=600.0, step=0.1)
        self._keep = gui.add_button("Keep keyframe", hint="one at the same time is replaced")
        kept: list[str] = [_NONE]
        self._kept = gui.add_dropdown(
            "Keyframes", kept, initial_value=kept[0], hint="choose one to go back to its pose"
        )
        self._drop = gui.add_button_group("Delete", ["this one", "all of them"])
        self._preview = gui.add_button("Play the keyframes")
        self._name = gui.add_text("Clip name", "my clip")
        self._save = gui.add_button("Save as a clip")
        self._enable()
        self.on.on_update(lambda _: self._switch())
        self._reference.on_update(lambda _: session.timeline.redraw())
        self._kept.on_update(by_user(self._go))
        self._preview.on_click(lambda _: self._toggle_preview())
        self._joint.on_update(by_user(self._choose_named))
        self._pin.on_update(by_user(self._toggle_pin))
        self._change.on_click(lambda _: self._act(self._change.value))
        self._reset.on_click(lambda _: self._take())
        self._keep.on_click(lambda _: self._keep_frame())
        self._drop.on_click(lambda _: self._forget(everything=self._drop.value != "this one"))
        self._save.on_click(lambda _: self.save())

    def open(self, subject: Subject) -> None:
        """Another character is shown."""
        self._leave()
        self.on.value = False
        if self._before is not self.editor:
            self._before = None
        self._subject, self.editor = subject, None
        self._list()

    @property
    def is_posing(self) -> bool:
        """Whether a body is posed in the scene."""
        return self.on.value and self.editor is not None

    @property
    def root(self) -> Float[np.ndarray, "3"]:
        """Where the root of the posed body is, metres, world."""
        assert self.editor is not None
        return self.editor.places()[0]

    @property
    def shows_reference(self) -> bool:
        """Whether the clip is shown as a ghost beside the pose."""
        return self._reference.value

    def show_reference(self) -> None:
        """Show the clip as a ghost: the user is looking for a frame of it."""
        if self.is_posing:
            self._reference.value = True

    def _switch(self) -> None:
        if self.on.value:
            self._enter()
        else:
            self._leave()
            self._says.content = _OFF
            self.session.stage()
            self.session.look("three-quarter")
        self._enable()

    def _enable(self) -> None:
        """Without pose mode, nothing here has an effect."""
        for control in (
            self._joint, self._pin, self._hold, self._stand, self._reference, self._reset, self._at,
            self._keep, self._kept, self._preview, self._name, self._save,
        ):  # fmt: skip
            control.disabled = not self.on.value
        for group in (self._change, self._drop):  # viser cannot disable these
            group.visible = self.on.value

    def _enter(self) -> None:
        subject, session = self._subject, self.session
        if subject is None:
            return
        session.play(False)
        if self.editor is None:
            editor = PoseEditor(subject.character)
            editor.take(subject.motions[session.clip], session.timeline.seconds)
            if self._before is not None:
                editor.adopt(self._before)
            self.editor = editor
            self._list()
        self._labels = self.editor.labels()
        self._joint.options = self._labels
        self._says.content = f"Drag the handle; the body follows {self.editor.follows}."
        self._reference.value = False
        session.stage()
        self._build()
        session.look("three-quarter")  # at the body, which stands where the clip may not be
        self._choose(self.editor.handles()[-1])

    def _leave(self) -> None:
        self.close()
        with self.session.lock:
            self._gizmo, self._body, self._dots = None, None, {}
            self._pinned.clear()
            self.session.client.scene.remove_by_name(_NODE)

    def _build(self) -> None:
        """The posed body and a dot on every joint; a click on a dot chooses it."""
        editor, subject = self.editor, self._subject
        assert editor is not None
        assert subject is not None
        scene = self.session.client.scene
        scene.add_frame(_NODE, show_axes=False)
        surface = subject.looks.surface
        if surface is not None:
            points = surface.pose(editor.world())
            (piece,) = surface.whole
            self._body = scene.add_mesh_simple(
                f"{_NODE}/surface", points[piece.points], piece.faces, color=piece.colour,
                opacity=THROUGH,
            )  # fmt: skip
        size = 0.018 * subject.character.height
        for token, place in enumerate(editor.places()):
            dot = scene.add_icosphere(
                f"{_NODE}/dots/{token}", radius=size, color=_FREE, position=place, subdivisions=1
            )
            dot.on_click(lambda _, token=token: self._choose(token))
            self._dots[token] = dot

    def _choose_named(self) -> None:
        self._choose(self._labels.index(self._joint.value))

    def _choose(self, token: int) -> None:
        """Put the handle on a joint."""
        if self.editor is None or not self._dots:
            return
        self._token = token
        self._joint.value = self._labels[token]
        self._pin.value = token in self._pinned
        if self._gizmo is not None:
            self._gizmo.remove()
        assert self._subject is not None
        self._gizmo = self.session.client.scene.add_transform_controls(
            f"{_NODE}/handle", scale=0.3 * self._subject.character.height, disable_rotations=True,
            position=self.editor.places()[token], depth_test=False,
        )  # fmt: skip
        self._gizmo.on_update(self._dragged)
        self._colour()

    def _colour(self) -> None:
        for token, dot in self._dots.items():
            chosen = _CHOSEN if token == self._token else _FREE
            dot.color = _PINNED if token in self._pinned else chosen

    def _toggle_pin(self) -> None:
        (self._pinned.add if self._pin.value else self._pinned.discard)(self._token)
        self._colour()

    def _dragged(self, event: viser.TransformControlsEvent) -> None:
        """Follow the handle. Threads of earlier events that still solve are not waited for."""
        if event.phase == "start" and self.editor is not None:
            if self._stop is not None:
                self._stop.set()
            self.editor.remember()
        self._wanted = np.array(event.target.position)
        if not self._busy.acquire(blocking=False):
            return
        try:
            while (target := self._wanted) is not None and self.editor is not None:
                self._wanted = None
                held = self.editor.handles()[1:] if self._hold.value else []
                self.editor.drag(
                    self._token, target, pinned=sorted({*held, *self._pinned}),
                    stand=self._stand.value,
                )  # fmt: skip
                self._show(handle=False)
        finally:
            self._busy.release()
        if event.phase == "end" and self._wanted is None:
            self._show(handle=True)

    def _show(self, *, handle: bool) -> None:
        """Show the pose; the handle goes back to its joint where that was out of reach."""
        if self.editor is not None:
            self._draw(self.editor.world(), handle=handle)

    def _draw(self, world: Float[Tensor, "J 4 4"], *, handle: bool) -> None:
        """Show the body with its joints at these transforms."""
        editor, subject = self.editor, self._subject
        if editor is None or subject is None:
            return
        surface = subject.looks.surface
        places = world[list(editor.joints), :3, 3].float().numpy(force=True)
        points = None if surface is None else surface.pose(world)
        with self.session.lock, self.session.client.atomic():
            if surface is not None and points is not None and self._body is not None:
                self._body.vertices = points[surface.whole[0].points]
            for token, dot in self._dots.items():
                dot.position = places[token]
            if handle and self._gizmo is not None:
                self._gizmo.position = places[self._token]

    def close(self) -> None:
        """The browser is gone: end the preview."""
        if self._stop is not None:
            self._stop.set()

    def undo(self) -> None:
        """Go back to the pose before the last change."""
        self._act("undo")

    def _act(self, change: str) -> None:
        """Change the whole pose."""
        editor = self.editor
        if editor is None or not self.on.value:
            self.session.say("Turn pose mode on first.")
            return
        try:
            if change == "undo" and not editor.undo():
                self.session.say("There is nothing to undo.")
            elif change == "mirror":
                editor.mirror()
            elif change == "neutral":
                editor.reset()
        except ValueError as error:
            self.session.say(str(error))
        self._show(handle=True)

    def _take(self) -> None:
        if self.editor is not None and self._subject is not None:
            clip, seconds = self.session.clip, self.session.timeline.seconds
            self.editor.take(self._subject.motions[clip], seconds)
            self._show(handle=True)

    def _keep_frame(self) -> None:
        if self.editor is None:
            self.session.say("Turn pose mode on first.")
            return
        self.editor.keep(self._at.value)
        self._list()
        # The next one, where this was the last.
        if self._at.value >= self.editor.keyframes[-1].seconds:
            self._at.value = round(self._at.value + _STEP, 3)

    def _list(self) -> None:
        """List the keyframes, with the one at the keyframe time chosen."""
        kept = [] if self.editor is None else self.editor.keyframes
        times = [f"{k.seconds:g} s" for k in kept]
        now = f"{self._at.value:g} s"
        self._kept.options = times or [_NONE]
        self._kept.value = now if now in times else (times or [_NONE])[-1]
        if not kept:
            self._at.value = 0.0

    def _chosen(self) -> int | None:
        """Number of the keyframe that the list shows."""
        kept = [] if self.editor is None else self.editor.keyframes
        return next((i for i, k in enumerate(kept) if f"{k.seconds:g} s" == self._kept.value), None)

    def _go(self) -> None:
        """Go back to the pose of a keyframe, to change it."""
        if self.editor is None or (number := self._chosen()) is None:
            return
        keyframe = self.editor.keyframes[number]
        self.editor.show(keyframe)
        self._at.value = keyframe.seconds
        self._show(handle=True)

    def _forget(self, *, everything: bool) -> None:
        if self.editor is None:
            return
        number = self._chosen()
        self.editor.keyframes = [
            k for i, k in enumerate(self.editor.keyframes) if not everything and i != number
        ]
        self._list()

    def _toggle_preview(self) -> None:
        """Play what `save` would write, once, or stop it."""
        if self._stop is not None:
            self._stop.set()
            return
        if self.editor is None:
            return
        self._stop = stop = Event()
        try:
            motion = self.editor.motion("preview")
        except ValueError as error:
            self._stop = None
            self.session.say(str(error))
            return
        self._preview.label = "Stop"
        Thread(target=self._play, args=(motion, stop), name="akd-view-preview", daemon=True).start()

    def _play(self, motion: Motion, stop: Event) -> None:
        """Show a motion on the posed body, then the pose again."""
        world, began = motion.world(), time.monotonic()
        while (seconds := time.monotonic() - began) <= motion.duration:
            self._draw(world[min(round(seconds * FPS), len(world) - 1)], handle=False)
            if stop.wait(1.0 / FPS):
                break
        self._stop, self._preview.label = None, "Play the keyframes"
        self._show(handle=True)

    def save(self) -> None:
        """Write the keyframes as a clip into a copy of the character's file, beside it."""
        session, subject = self.session, self._subject
        if self.editor is None or subject is None:
            session.say("Turn pose mode on first.")
            return
        name = " ".join(self._name.value.split())[:60] or "clip"
        shown = subject.character.asset.path
        try:
            # A second clip joins the first one. A file that was there before is not written to.
            path = shown if shown in self._saved else session.content.poses_path(shown)
            motion = self.editor.motion(name)
            extras = {"generator": "akd view", "keyframes": len(self.editor.keyframes)}
            write_motions(subject.character, [motion], path, extras=extras)
        except (ValueError, AssetError, OSError) as error:
            session.say(str(error))
            return
        self._saved.add(path)
        self._before = self.editor  # pose mode goes on with its keyframes
        session.saved(path, last=True)
        session.say(f"{path.name}: clip {name!r}")
