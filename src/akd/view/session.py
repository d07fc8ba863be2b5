"""`Session`: what one browser sees and does. Sessions share loaded characters and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from threading import RLock
from typing import Literal

import numpy as np
import viser

from akd.asset.asset import AssetError
from akd.view.actor import Actor, Shown
from akd.view.content import GROUNDED, Content, Subject
from akd.view.curves import Curves
from akd.view.events import by_user
from akd.view.frames import FPS, distance_to_fit, height_on_screen
from akd.view.job import Animate
from akd.view.numbers import heading, legend, metrics_table
from akd.view.pose_panel import PosePanel
from akd.view.run_panel import RunPanel
from akd.view.timeline import Timeline

NOTHING, ALL, SEEDS = "nothing", "all clips", "other seeds"
OVERLAID, BESIDE = "overlaid", "side by side"
FOLLOW, FREE, PRIOR = "follow", "free", "as the video model sees it"
_TINTS = ((70, 130, 230), (230, 120, 60), (60, 170, 110), (160, 90, 200))
_GHOST = 0.35
_APART = 1.4
"""Distance between clips side by side, in body lengths or heights, whichever is larger."""
_SPEEDS = {"¼ ×": 0.25, "½ ×": 0.5, "1 ×": 1.0, "2 ×": 2.0}
_MOST = 6
"""Clips shown at once."""


class Session:
    """Scene, controls and clock of one browser."""

    def __init__(self, client: viser.ClientHandle, content: Content, *, make: Animate) -> None:
        self.client, self.content = client, content
        self.actors: list[Actor] = []
        self._shown: list[tuple[Subject, str]] = []
        """The clips of `actors`."""
        self._subject = content.first()
        self._followed: np.ndarray | None = None
        self._closed = False
        self.lock = RLock()
        """Held while nodes of the scene are moved, added or removed: callbacks come in threads."""
        self.timeline = Timeline(self._draw)
        self._build(make)
        self.open(self._subject.name)

    @property
    def subject(self) -> Subject:
        """The character whose clips are shown."""
        return self._subject

    @property
    def clip(self) -> str:
        """The clip that is shown."""
        return self._clip.value

    def open(self, name: str, clip: str | None = None) -> None:
        """Show another file or run."""
        try:
            self._subject = self.content.subject(name)
        except (AssetError, ValueError) as error:
            self.say(str(error))
            return
        subject = self._subject
        clips = list(subject.motions)
        self._clip.options = clips
        self._clip.value = clip if clip in clips else subject.best
        more = [ALL] if len(clips) > 1 else []
        more += [SEEDS] if len(self.content.seeds(subject.name)) > 1 else []
        self._compare.options = [NOTHING, *more, *clips]
        self._compare.value = NOTHING
        surface = subject.looks.surface
        self._note.content = "" if surface is None else surface.note
        self.pose.open(subject)
        self._ground()
        self.stage()
        self.look("three-quarter")

    def stage(self) -> None:
        """Put the chosen clips into the scene."""
        self._shown = self._chosen()
        self._layout.visible = len(self._shown) > 1
        with self.lock:
            self._clear()
            self.actors = [self._actor(number, *each) for number, each in enumerate(self._shown)]
        self._heading.content = self._headed()
        self._time.max = max(max(len(a.frames) - 1, 1) for a in self.actors)
        self.curves.open(*self._shown[0])
        self._table.content = ""
        self._forces.disabled = not any(
            c == GROUNDED and s.forces is not None for s, c in self._shown
        )
        self.timeline.open(max(actor.frames.seconds for actor in self.actors))

    def _headed(self) -> str:
        """HTML about the clip that is shown."""
        subject, clip = self._shown[0]
        seconds = subject.motions[clip].duration
        facts = (
            subject.asset, f"{subject.character.height:.2f} m tall",
            f"{seconds:.2f} s" if seconds > 0 else "",
        )  # fmt: skip
        title, outcome = subject.prompt or subject.name, subject.outcomes.get(clip)
        if len(self._shown) == 1:
            return heading(title, facts, outcome)
        ghosts = self._layout.value == OVERLAID
        rows = [
            (name, _tint(number) if ghosts and number else None, s.outcomes.get(c))
            for number, (name, (s, c)) in enumerate(zip(self._labels(), self._shown, strict=True))
        ]
        return heading(title, facts, None) + legend(rows)

    def _labels(self) -> list[str]:
        """Names of the clips that are shown."""
        several = len({subject.name for subject, _ in self._shown}) > 1
        return [f"{s.name}: {clip}" if several else clip for s, clip in self._shown]

    def _chosen(self) -> list[tuple[Subject, str]]:
        """The clip that is shown, and those to compare it with: none while a pose is made."""
        subject, clip, other = self._subject, self._clip.value, self._compare.value
        chosen = [(subject, clip)]
        if self.pose.is_posing:
            return chosen
        if other == ALL:
            chosen += [(subject, c) for c in subject.motions if c != clip]
        elif other == SEEDS:
            names = self.content.seeds(subject.name)
            runs = [self.content.subject(n) for n in names[:_MOST] if n != subject.name]
            chosen += [(run, clip if clip in run.motions else run.best) for run in runs]
        elif other not in (NOTHING, clip):
            chosen.append((subject, other))
        return chosen[:_MOST]

    def compare_seeds(self) -> None:
        """Show the run beside those of other seeds."""
        if SEEDS in self._compare.options:
            self._compare.value, self._layout.value = SEEDS, BESIDE
            self._restage()

    def _actor(self, number: int, subject: Subject, clip: str) -> Actor:
        """One of the clips shown: the first in its own colours, others beside it or as ghosts."""
        beside, posing = self._layout.value == BESIDE, self.pose.is_posing
        ghost = posing or (number > 0 and not beside)
        frames, offset, caption = subject.frames(clip), np.zeros(3), None
        if beside and len(self._shown) > 1:
            caption = self._labels()[number]
            shown = frames.points(0) if subject.looks.surface else frames.joints(0)
            width = max(float(np.ptp(shown, axis=0).max()), subject.character.height)
            left = np.cross((0.0, 1.0, 0.0), subject.character.forward.double().numpy())
            offset = _APART * width * number * left
        return Actor(
            self.client.scene, f"/clips/{number}", frames, offset=offset,
            tint=_tint(number) if ghost else None, opacity=_GHOST if ghost else None,
            forces=subject.forces if clip == GROUNDED else None, caption=caption,
            over=self.pose.root if posing else None,
        )  # fmt: skip

    def _restage(self) -> None:
        """Other clips were chosen."""
        before = float(np.linalg.norm(self.actors[-1].offset)) if self.actors else 0.0
        try:
            self.stage()
        except (AssetError, ValueError) as error:  # a run of another seed cannot be read
            self.say(str(error))
            return
        if before != float(np.linalg.norm(self.actors[-1].offset)):
            self.look("three-quarter")

    def saved(self, path: Path, *, last: bool = False) -> None:
        """Something was written below the root: list it and show it, or the last of its clips."""
        name = path.relative_to(self.content.root).as_posix()
        self.content.forget(name)
        names = self.content.names()
        if name in names:
            self._file.options, self._file.visible = names, True
            self._file.value = name
            self.open(name)
            if last and self._subject.name == name:
                self._clip.value = list(self._subject.motions)[-1]
                self.stage()

    def say(self, text: str, *, stays: bool = False) -> None:
        """Tell the user, for some seconds or until it is closed."""
        self.client.add_notification("akd", text, auto_close_seconds=None if stays else 8.0)

    def close(self) -> None:
        """Stop the clock and whatever runs: the browser is gone."""
        with self.lock:
            self._closed = True
        self.pose.close()
        self.run.close()
        self.timeline.close()

    def _clear(self) -> None:
        old, self.actors = self.actors, []
        for actor in old:
            actor.remove()

    def _build(self, make: Animate) -> None:
        gui = self.client.gui
        names = self.content.names()
        self._heading = gui.add_html("")
        self._file = gui.add_dropdown(
            "File or run", names, initial_value=self._subject.name, visible=len(names) > 1
        )
        clips: list[str] = [NOTHING]  # until a file is open
        self._clip = gui.add_dropdown("Clip", clips, initial_value=clips[0])
        self._compare = gui.add_dropdown("Compare with", clips, initial_value=clips[0])
        self._layout = gui.add_dropdown(
            "Layout", [OVERLAID, BESIDE], initial_value=OVERLAID, visible=False
        )
        self._play = gui.add_button(
            "Play", icon=viser.Icon.PLAYER_PLAY, hint="space; J and L step by a frame"
        )
        self._time = gui.add_slider("Frame", 0, 1, 1, 0)
        self._loop = gui.add_checkbox("Loop", True)
        self._speed = gui.add_dropdown("Speed", list(_SPEEDS), initial_value="1 ×")
        tabs = gui.add_tab_group()
        with tabs.add_tab("View"):
            self._surface = gui.add_checkbox("Surface", True)
            self._skeleton = gui.add_checkbox("Skeleton", False)
            self._names = gui.add_checkbox("Joint names", False)
            self._gaussians = gui.add_checkbox("Gaussians", False)
            self._forces = gui.add_checkbox("Contact forces", False)
            self._shadows = gui.add_checkbox("Shadows", True, hint="off where rendering is slow")
            self._camera = gui.add_dropdown("Camera", [FOLLOW, FREE, PRIOR], initial_value=FOLLOW)
            self._views = gui.add_button_group("Look from", ["side", "three-quarter", "front"])
            self._note = gui.add_markdown("")
        with tabs.add_tab("Metrics"):
            measured = gui.add_button("Measure the clips shown")
            self._table = gui.add_html("")
        with tabs.add_tab("Curves"):
            self.curves = Curves(gui)
        with tabs.add_tab("Pose"):
            self.pose = PosePanel(self)
        with tabs.add_tab("Run"):
            self.run = RunPanel(self, make)
        self._file.on_update(by_user(lambda: self.open(self._file.value)))
        for choice in (self._clip, self._compare, self._layout):
            choice.on_update(by_user(self._restage))
        self._play.on_click(lambda _: self.play(not self.timeline.is_playing))
        self._time.on_update(by_user(self._scrub))
        self._loop.on_update(lambda _: setattr(self.timeline, "loop", self._loop.value))
        self._speed.on_update(lambda _: setattr(self.timeline, "speed", _SPEEDS[self._speed.value]))
        for box in (
            self._surface, self._skeleton, self._names, self._gaussians, self._forces, self._camera
        ):  # fmt: skip
            box.on_update(lambda _: self.timeline.redraw())
        self._shadows.on_update(
            lambda _: self.client.scene.configure_default_lights(cast_shadow=self._shadows.value)
        )
        # viser itself orbits with the arrow keys, and moves with W, A, S, D, Q and E.
        self._key("space", "Play or pause", lambda: self.play(not self.timeline.is_playing))
        self._key("J", "Previous frame", lambda: self._step(-1))
        self._key("L", "Next frame", lambda: self._step(1))
        self._key("home", "First frame", lambda: self._step(-self._last_frame()))
        self._key("end", "Last frame", lambda: self._step(self._last_frame()))
        self._key("Z", "Undo the last change of the pose", self.pose.undo, modifier="cmd/ctrl")
        self._views.on_click(lambda _: self.look(self._views.value))
        measured.on_click(lambda _: self._measure())

    def play(self, wanted: bool) -> None:
        """Play or pause."""
        if wanted:
            self.pose.show_reference()
        self.timeline.play(wanted)
        self._play.label = "Pause" if self.timeline.is_playing else "Play"

    def _key(
        self,
        key: Literal["space", "J", "L", "home", "end", "Z"],
        label: str,
        act: Callable[[], None],
        *,
        modifier: Literal["cmd/ctrl"] | None = None,
    ) -> None:
        """Bind a key; Ctrl+K lists them in the browser."""
        command = self.client.gui.add_command(label, hotkey=key, modifier=modifier)
        command.on_trigger(lambda _: act())

    def _step(self, frames: int) -> None:
        """Pause, and step by this many frames."""
        if self.actors:
            self._time.value = min(max(self._time.value + frames, 0), self._last_frame())
            self._scrub()

    def _last_frame(self) -> int:
        return int(self._time.max)

    def _scrub(self) -> None:
        self.play(False)
        self.pose.show_reference()
        self.timeline.seek(self._time.value / FPS)

    def _draw(self, seconds: float) -> None:
        """Show a time; in the timeline's thread."""
        shown = Shown(
            self._surface.value, self._skeleton.value, self._names.value, self._gaussians.value,
            self._forces.value,
        )  # fmt: skip
        if self.pose.is_posing:
            shown = Shown(surface=self.pose.shows_reference)
        with self.lock:
            if self._closed or not self.actors:
                return
            with self.client.atomic():
                for actor in self.actors:
                    actor.show(seconds, shown)
                self._move_camera(seconds)
            frame = self.actors[0].frames.frame(seconds)
        if self.timeline.is_playing and self._time.value != frame:
            self._time.value = frame
        self.curves.show(seconds, at_once=not self.timeline.is_playing)
        if not self.timeline.is_playing and self._play.label == "Pause":
            self._play.label = "Play"

    def _move_camera(self, seconds: float) -> None:
        frames, camera = self.actors[0].frames, self.client.camera
        frame = frames.frame(seconds)
        if self.pose.is_posing:  # the body stays where it is
            self._followed = None
        elif self._camera.value == PRIOR:
            eye, target, opening = frames.prior_camera(frame)
            camera.position, camera.look_at, camera.fov = eye, target, opening
            self._followed = None
        elif self._camera.value == FOLLOW:
            now = frames.path[frame] * (1.0, 0.0, 1.0)
            if self._followed is not None:
                camera.position = camera.position + now - self._followed
            self._followed = now
        else:
            self._followed = None

    def look(self, view: str) -> None:
        """Look from a side at all clips shown, at the present frame."""
        frames, beside = self.actors[0].frames, self.actors[-1].offset
        frame = frames.frame(self.timeline.seconds)
        eye, target, opening = frames.camera_from(view, frame)
        place = self.actors[0].place(frame)
        eye, target = eye + place, target + place
        aspect = self.client.camera.aspect
        away = distance_to_fit(eye - target, beside, opening=opening, aspect=aspect)
        target = target + 0.5 * beside
        lower = np.zeros(3)
        lower[1] = height_on_screen(aspect) * np.tan(0.5 * opening) * np.linalg.norm(away)
        with self.lock, self.client.atomic():
            self._followed = frames.path[frame] * (1.0, 0.0, 1.0)
            self.client.camera.position = target + away
            self.client.camera.look_at = target - lower
            self.client.camera.fov = opening

    def _ground(self) -> None:
        height = self._subject.character.height
        self.client.scene.add_grid(
            "/ground", plane="xz", infinite_grid=True, cell_size=0.5 * height,
            section_size=height, fade_distance=20 * height, plane_color=(236, 238, 240),
            plane_opacity=1.0, shadow_opacity=0.2, cell_color=(222, 226, 230),
            section_color=(190, 197, 204),
        )  # fmt: skip

    def _measure(self) -> None:
        self._table.content = "<p>measuring ...</p>"
        try:
            measured = {
                name: subject.metrics(clip)
                for name, (subject, clip) in zip(self._labels(), self._shown, strict=True)
            }
            self._table.content = metrics_table(measured)
        except (ValueError, RuntimeError) as error:
            self._table.content = f"<p>{escape(str(error))}</p>"


def _tint(number: int) -> tuple[int, int, int]:
    """Colour of a ghost."""
    return _TINTS[(number - 1) % len(_TINTS)]
