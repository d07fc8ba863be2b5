"""Harnesses of run folders, checkpoints, batches and evaluations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from akd.base.files import DamagedFile, checking_content, read_tensors, write_tensors
from fuzz.harness import FOLDER, Harness, file_parser


def _tensors(format: str, tensors: dict[str, Tensor], **about: str) -> bytes:
    """A file without a checksum, which mutations would break."""
    return save(tensors, {"format": format, **about})


def _run() -> Harness:
    from akd.commands.errors import UsageError
    from akd.commands.resume import checked_options
    from akd.distill.run_folder import RunError, RunFolder

    folder = RunFolder(FOLDER)
    folder.path.mkdir(exist_ok=True)

    def parse(data: bytes) -> None:
        (folder.path / "run.json").write_bytes(data)
        try:
            found = folder.read()
            assert found is not None
            checked_options(str(FOLDER), found["options"])
        except (RunError, UsageError) as error:
            assert "\n" not in str(error), error

    seed = {
        "format": "akd-run-2", "done": False, "job": {}, "results": ["motion.glb"],
        "options": {
            "file": "a.glb", "prompt": "a fox walking", "seed": 0, "set": ["a=1"], "fps": 30,
            "keys": "every", "height": 1.5,
        },
    }  # fmt: skip
    return Harness(parse, seeds=(json.dumps(seed).encode(),))


def _jobs() -> Harness:
    from akd.commands.batch_file import read_jobs
    from akd.commands.errors import UsageError
    from akd.engine.call import Resources

    (FOLDER / "fox.glb").write_bytes(b"")

    def read(path: Path) -> None:
        read_jobs(path, lambda prior, device: Resources(1, 0.0))

    # An asset that is missing is named by its own path.
    parse = file_parser("jobs.toml", read, UsageError, named=False)
    seed = (
        b'[options]\nfps = 30\n[resources]\ncpus = 2\ngpus = 0.5\n[[job]]\nasset = "fox.glb"\n'
        b'prompt = "a fox walking"\nseed = 3\n[[product]]\nassets = ["fox.glb"]\n'
        b'prompts = ["a fox running"]\nseeds = [0, 1]\npriors = ["tiny"]\n'
    )
    return Harness(parse, seeds=(seed,))


def _outcome() -> Harness:
    from akd.commands.batch_task import animate_task
    from akd.engine.folder import JobFolder
    from akd.engine.job import Job

    job = JobFolder(FOLDER, Job(animate_task, {}, "job"))
    job.result.mkdir(parents=True, exist_ok=True)
    job.path.mkdir(parents=True, exist_ok=True)

    def parse(data: bytes) -> None:
        for path in (job.result / "outcome.json", job.path / "failed.json"):
            path.write_bytes(data)
        (job.path / "attempt.json").write_bytes(data)
        for read in (job.outcome, job.failure, job.last_attempt):
            read()

    seed = {"id": job.job.id, "values": {"score": 0.5}, "error": "text", "node": "a", "seconds": 1}
    return Harness(parse, seeds=(json.dumps(seed).encode(),))


def _checkpoint() -> Harness:
    from akd.distill.checkpoint import Checkpoint, pack, unpack
    from akd.distill.run_folder import CHECKPOINT_FORMAT

    def read(path: Path) -> None:
        tensors, _ = read_tensors(path, format=CHECKPOINT_FORMAT)
        with checking_content(path):
            for one in unpack(tensors):
                Checkpoint.from_tensors(one)

    made = Checkpoint(
        3, [torch.zeros(2, 3)], {0: {"step": torch.zeros(())}},
        torch.zeros(16, dtype=torch.uint8), [{"loss": 1.0}], 0, (),
    )  # fmt: skip
    seed = _tensors(CHECKPOINT_FORMAT, pack([made.to_tensors()]))
    return Harness(file_parser("a.safetensors", read, DamagedFile), seeds=(seed,))


def _poses() -> Harness:
    from akd.posespace.dataset import FORMAT, load_poses

    tensors = {"states": torch.zeros(2, 3), "body_of": torch.zeros(1)}
    seed = _tensors(FORMAT, tensors, bodies="[]", clips="[]")
    return Harness(file_parser("a.safetensors", load_poses, ValueError), seeds=(seed,))


def _splats() -> Harness:
    from akd.splat.fit_state import load_cloud

    path = FOLDER / "seed.safetensors"
    about = {"akd": json.dumps({"antialias": True})}
    write_tensors(path, _cloud_tensors(), about=about)
    return Harness(file_parser("a.safetensors", load_cloud), seeds=(path.read_bytes(),))


def _cloud() -> Harness:
    from akd.asset.asset import AssetError
    from akd.splat.bind import read_bound_cloud
    from fuzz.fit_inputs import npz

    arrays = {name: value.numpy() for name, value in _cloud_tensors().items()}
    seeds = npz(**arrays, antialias=np.array(True), joints=np.array(["hip"]))
    return Harness(file_parser("a.npz", read_bound_cloud, AssetError), seeds=seeds)


def _cloud_tensors() -> dict[str, Tensor]:
    return {
        "means": torch.zeros(2, 3), "scales": torch.ones(2, 3), "rotations": torch.ones(2, 4),
        "opacities": torch.ones(2), "sh": torch.zeros(2, 1, 3),
        "bones": torch.zeros(2, 1, dtype=torch.int64), "weights": torch.ones(2, 1),
    }  # fmt: skip


def _view() -> Harness:
    from akd.report.view_data import ViewData
    from akd.rig.pose import Pose
    from akd.rig.skeleton import Skeleton
    from fuzz.fit_inputs import npz

    rest = Pose(torch.zeros(2, 3), torch.tensor(((1.0, 0.0, 0.0, 0.0),) * 2), torch.ones(2, 3))
    skeleton = Skeleton(("hip", "knee"), (-1, 0), rest)

    def read(path: Path) -> None:
        ViewData.read(path, skeleton)

    shapes = {"times": (3,), "translation": (3, 2, 3), "rotation": (3, 2, 4), "scale": (3, 2, 3)}
    arrays = {f"start_{name}": np.ones(shape, np.float32) for name, shape in shapes.items()}
    arrays |= {f"contact_{name}": np.ones((3, 1, 3), np.float32) for name in ("points", "forces")}
    seeds = npz(**arrays, contact_fps=np.array(30.0))
    return Harness(file_parser("view.npz", read), seeds=seeds)


def _votes() -> Harness:
    from akd.report.blind import Pair, Vote, read_votes, tally, vote_lines

    pairs, methods = [Pair("a fox walking", "x", "y")], {"x": "akd", "y": "other"}

    def read(path: Path) -> None:
        tally(read_votes(path), pairs, methods)

    seed = vote_lines([Vote("p", 0, "plausibility", "a"), Vote("p", 0, "motion_amount", "b")])
    return Harness(file_parser("votes.jsonl", read, ValueError), seeds=(seed.encode(),))


def _scores() -> Harness:
    from akd.metrics.videophy import read_scores

    def read(path: Path) -> None:
        read_scores([path])

    seed = b"videopath,caption\n/a/x.mp4,does this entail it,0.5\n/a/x.mp4,physical laws,1e-1\n"
    return Harness(file_parser("scores.csv", read, ValueError), seeds=(seed,))


def _prior_weights() -> Harness:
    from akd.prior.tiny.load import FORMAT, load_network
    from akd.prior.tiny.network import TinyNetwork
    from akd.prior.tiny.settings import TinySettings
    from akd.prior.tiny.vocabulary import TOKENS

    folder = FOLDER / "weights"
    folder.mkdir(exist_ok=True)

    def read(path: Path) -> None:
        load_network(path.parent)

    settings = TinySettings(
        frames=2, width=2, height=2, patch=2, channels=2, layers=1, heads=1, text_channels=1,
        refine_channels=1, refine_cell=1,
    )  # fmt: skip
    about = {
        "settings": json.dumps(asdict(settings)), "vocabulary": json.dumps(TOKENS), "parts": "1",
    }  # fmt: skip
    weights = {name: value.half() for name, value in TinyNetwork(settings).state_dict().items()}
    # What is wrong with the parts together is said of the folder.
    parse = file_parser("weights/tiny-1.safetensors", read, DamagedFile, named=False)
    return Harness(parse, seeds=(_tensors(FORMAT, weights, **about),))


def _regressor_weights() -> Harness:
    from akd.fit.regressor.network import RegressorNetwork
    from akd.fit.regressor.regressor import load_regressor, save_regressor
    from akd.fit.regressor.settings import RegressorSettings

    settings = RegressorSettings(frames=1, size=2, channels=(8,), width=32, layers=1)
    seed = _without_checksum(save_regressor(RegressorNetwork(settings), FOLDER / "seed"))
    return Harness(file_parser("a.safetensors", load_regressor, DamagedFile), seeds=(seed,))


def _recogniser_weights() -> Harness:
    from dataclasses import replace

    from akd.metrics.recognise.network import build_network
    from akd.metrics.recognise.recogniser import Recogniser, load_recogniser, save_recogniser
    from akd.metrics.recognise.settings import RECOGNISERS

    settings = replace(RECOGNISERS["a"], frames=1, size=2, channels=(8,))
    made = Recogniser(build_network(settings, 2), ("walk", "stand"))
    seed = _without_checksum(save_recogniser(made, FOLDER / "seed"))

    def read(path: Path) -> None:
        load_recogniser("a", path.parent)

    return Harness(file_parser("recogniser-a.safetensors", read, DamagedFile), seeds=(seed,))


def _pose_weights() -> Harness:
    from akd.posespace.model import load_model, save_model
    from akd.posespace.network import PoseNetwork
    from akd.posespace.settings import PoseNetworkSettings

    path = FOLDER / "seed" / "pose.safetensors"
    settings = PoseNetworkSettings(width=2, layers=1, heads=1, point_width=1)
    save_model(PoseNetwork(settings), path, training={})
    seed = _without_checksum(path)
    return Harness(file_parser("a.safetensors", load_model, DamagedFile), seeds=(seed,))


def _without_checksum(path: Path) -> bytes:
    """A file that was just written, for mutations that its checksum would give away."""
    tensors, about = read_tensors(path)
    return save(tensors, about)


HARNESSES: dict[str, Callable[[], Harness]] = {
    "run": _run,
    "jobs": _jobs,
    "outcome": _outcome,
    "checkpoint": _checkpoint,
    "poses": _poses,
    "splats": _splats,
    "cloud": _cloud,
    "view": _view,
    "votes": _votes,
    "scores": _scores,
    "prior_weights": _prior_weights,
    "regressor_weights": _regressor_weights,
    "recogniser_weights": _recogniser_weights,
    "pose_weights": _pose_weights,
}
