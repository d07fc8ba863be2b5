"""`akd animate`: a sentence becomes a clip in the user's own file."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.distill.run_folder import RunFolder
    from akd.pipeline import Animation, Request
    from akd.prior.large.plan import Plan
    from akd.subject import Subject

LONGEST_PROMPT = 1000


@dataclass(frozen=True)
class Animate:
    """Distil the motion that a sentence names into a character.

    Writes motion.glb (the file with the clips `PROMPT` and `PROMPT (grounded)` added), video.mp4,
    grounded.mp4, metrics.json, report.html, and run/, from which the same command, or `akd resume`,
    goes on where it was stopped.
    """

    file: tyro.conf.Positional[Path]
    """A rigged glTF or GLB file; or a bare mesh, which is rigged first."""
    prompt: tyro.conf.Positional[str]
    """What the character does, such as "a fox walking"."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to write to."""
    prior: str = "tiny"
    """The video model: tiny, one that `akd prior list` names, or a folder."""
    preset: str | None = None
    """tiny, fast or paper; by default tiny for the tiny prior, fast for others."""
    iterations: int | None = None
    """Of the distillation, in place of the preset's."""
    set: tuple[str, ...] = ()
    """Single settings, such as score.guidance=50 warm_start.samples=0."""
    seed: int = 0
    fps: float | None = None
    """Frames a second of the clip; by default a multiple of the prior's own, at least 24."""
    formats: str = "glb"
    """Formats of the clip, separated by commas: glb, bvh, usd (needs akd[usd]), fbx (needs
    Blender). motion.glb is always written."""
    in_place: bool = False
    """Take the travel over the ground out of the clips; videos and metrics still show it."""
    grounded: bool = True
    """Bring the motion down to the ground by physics as well."""
    physics_iterations: int = 200
    """How long physics searches for the controls."""
    weights: Path | None = None
    """Folder of weights, in place of those that ship or of the hub's copy."""
    device: str = "auto"
    """auto, cpu or cuda."""
    height: float | None = None
    """How tall the character is in metres, where the file's units are not to be believed."""
    up: str = "y"
    """The file's axis that points up: x, y or z."""
    template: str = "auto"
    """Body plan for a bare mesh: auto, quadruped, biped, theropod or generic."""
    roles: Path | None = None
    """A TOML file that puts joints' roles right: `joint = "left hind foot"` a line."""
    overwrite: bool = False
    """Begin anew, and write over what the folder holds."""

    def run(self) -> None:
        """Animate, and say what came of it."""
        made = self.make()
        if made is None:
            print(f"{self.out}: was finished already; --overwrite makes it anew")
            return
        name, metrics = list(made.metrics.items())[-1]
        print(f"{self.out}: {name}: {metrics.verdict}")
        print(f"{self.out / 'report.html'}: frames, curves, metrics and settings")

    def make(self) -> Animation | None:
        """Do it; None where it was done already. Errors are one line, before any long work."""
        self._check()
        with tempfile.TemporaryDirectory() as scratch:
            rigged = Path(scratch) / "rigged.glb"
            subject, request, plan, folder, job = self._prepare(rigged)
            try:
                goes_on = folder.begin(
                    job,
                    results=[*_results(request), *(_left_by(folder) if self.overwrite else ())],
                    options=self.options(),
                    overwrite=self.overwrite,
                )
                if goes_on and _is_done(folder, request):
                    return None
                if rigged.exists():
                    (folder.path / rigged.name).write_bytes(rigged.read_bytes())
                return self._animate(subject, request, plan, folder, goes_on=goes_on)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"stopped; the state is kept, `akd resume {self.out}` goes on from there"
                ) from None
            except ArithmeticError as error:
                raise UsageError(
                    f"{error}; a smaller --set learning_rate=... may help, in another folder"
                ) from None
            except OSError as error:
                where = f"{error.filename}: " if error.filename else f"{self.out}: "
                kept = "; what was done so far is kept" if folder.state(0).exists() else ""
                raise UsageError(f"{where}{error.strerror or error}{kept}") from None

    def options(self) -> dict[str, Any]:
        """The options as JSON values, for `akd resume`."""
        values = {k: v for k, v in asdict(self).items() if k not in ("out", "overwrite")}
        values["file"] = str(self.file.resolve())
        for name in ("weights", "roles"):
            path = getattr(self, name)
            values[name] = None if path is None else str(path.resolve())
        values["set"] = list(self.set)
        return values

    def _check(self) -> None:
        """What can be said without reading anything."""
        if not self.prompt.strip():
            raise UsageError("the prompt is empty: say what the character does")
        if len(self.prompt) > LONGEST_PROMPT:
            raise UsageError(
                f"the prompt must be at most {LONGEST_PROMPT} letters, got {len(self.prompt)}"
            )
        if self.iterations is not None and not 0 <= self.iterations <= 1_000_000:
            raise UsageError(f"--iterations must be from 0 to 1000000, got {self.iterations}")
        if not 1 <= self.physics_iterations <= 100_000:
            raise UsageError(
                f"--physics-iterations must be from 1 to 100000, got {self.physics_iterations}"
            )
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"--seed must be from 0 to 2^63 - 1, got {self.seed}")
        if self.fps is not None and not 1 <= self.fps <= 240:
            raise UsageError(f"--fps must be from 1 to 240, got {self.fps:g}")
        if self.up not in ("x", "y", "z"):
            raise UsageError(f"--up must be x, y or z, got {self.up!r}")
        if self.height is not None and not 0 < self.height < 1e6:
            raise UsageError(
                f"--height must be in metres, above zero and below 1e6, got {self.height:g}"
            )

    def _prepare(
        self, rigged: Path
    ) -> tuple[Subject, Request, Plan | Path, RunFolder, dict[str, Any]]:
        """Everything but the work: what is wrong with file, prompt or prior is said here."""
        from akd.commands.recognisers import recogniser_hash
        from akd.distill.run_folder import RunFolder, file_hash, weights_hash
        from akd.export.formats import read_formats
        from akd.motion.actions import action_label
        from akd.physics.settings import TrackingSettings
        from akd.pipeline import Request, job_of
        from akd.presets import find_preset, with_values
        from akd.prior.choose import chosen_device, is_tiny, plan_large, prompt_for, tiny_folder
        from akd.prior.tiny.bodies import check_body
        from akd.rig.roles.role_file import read_role_file
        from akd.subject import load_subject

        path = input_file(self.file)
        roles = None if self.roles is None else read_role_file(input_file(self.roles))
        tiny = is_tiny(self.prior)
        try:
            preset = self.preset or ("tiny" if tiny else "fast")
            settings = with_values(find_preset(preset), self.set)
            if self.iterations is not None:
                settings = replace(settings, iterations=self.iterations)
            formats = read_formats(self.formats, option="--formats")
            asked = prompt_for(self.prior, self.prompt)
            size = (None, None, None, None)
            if tiny:
                plan = tiny_folder(self.prior, self.weights, size)
                chosen_device(self.device)
            else:
                device = chosen_device(self.device)
                plan = plan_large(self.prior, self.weights, device, "auto", size, False)
        except ValueError as error:
            raise UsageError(str(error)) from None
        subject = load_subject(
            path, rigged=rigged, height=self.height, up=self.up, template=self.template,
            roles=roles,
        )  # fmt: skip
        notes = list(subject.notes)
        try:
            if tiny and (warning := check_body(subject.character.anatomy)):
                notes.append(warning)
        except ValueError as error:
            raise UsageError(f"{path.name}: {error}") from None
        if not subject.character.anatomy.legs:
            notes.append("no feet were found: it starts without travel, and feet are not measured")
        for note in notes:
            print(f"akd: note: {note}", file=sys.stderr)
        physics = TrackingSettings(iterations=self.physics_iterations) if self.grounded else None
        request = Request(
            prompt=" ".join(self.prompt.split()),
            settings=settings,
            seed=self.seed,
            fps=self.fps,
            physics=physics,
            asked=asked,
            action=action_label(self.prompt),
            formats=formats,
            in_place=self.in_place,
        )
        where = plan if isinstance(plan, Path) else plan.folder.path
        prior = {"name": self.prior if not tiny else "tiny", "hash": weights_hash(where)}
        job = job_of(subject, request, asset_hash=file_hash(path), prior=prior)
        # A chooses what is kept, B stands in metrics.json: other weights are another run.
        job["judge"] = {"hash": recogniser_hash("a", self.weights)}
        job["scorer"] = {"hash": recogniser_hash("b", self.weights)}
        if self.roles is not None:
            job["roles"] = {"hash": file_hash(self.roles)}
        return replace(subject, notes=tuple(notes)), request, plan, RunFolder(self.out), job

    def _animate(
        self,
        subject: Subject,
        request: Request,
        plan: Plan | Path,
        folder: RunFolder,
        *,
        goes_on: bool,
    ) -> Animation:
        import torch

        from akd.base.cache import cache_folder
        from akd.commands.recognisers import find_recogniser
        from akd.commands.terminal import Terminal
        from akd.pipeline import animate
        from akd.prior.choose import chosen_device
        from akd.prior.large.load import load_planned
        from akd.prior.tiny.load import load_tiny

        folder.log(
            "goes on" if goes_on else "begins", device=self.device, threads=torch.get_num_threads()
        )
        with Terminal() as watch:
            watch.begin("load")
            if isinstance(plan, Path):
                prior = load_tiny(plan, device=chosen_device(self.device))
            else:
                prior = load_planned(plan, cache=cache_folder() / "embeddings")
            made = animate(
                subject,
                request,
                prior,
                self.out,
                folder=folder,
                steering=find_recogniser("a", self.weights),
                recogniser=find_recogniser("b", self.weights),
                provenance={"prior": prior.name, "seed": self.seed, "run": folder.digest()[:16]},
                watch=watch,
            )
        for note in made.distilled.notes:
            print(f"akd: note: {note}", file=sys.stderr)
        verdicts = {name: metrics.verdict for name, metrics in made.metrics.items()}
        folder.log("done", verdicts=verdicts, notes=list(made.distilled.notes))
        return made


def _results(request: Request) -> list[str]:
    from akd.report.results import result_names

    return result_names(request.formats, grounded=request.physics is not None)


def _left_by(folder: RunFolder) -> list[str]:
    """Names of the results of the run that the folder holds, which may be in other formats."""
    from akd.report.results import result_names

    job = (folder.read() or {}).get("job", {})
    return result_names(job.get("formats", ())) if job else []


def _is_done(folder: RunFolder, request: Request) -> bool:
    """Whether every result is there."""
    finished = bool((folder.read() or {}).get("done"))
    return finished and all((folder.out / name).exists() for name in _results(request))
