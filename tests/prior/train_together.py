"""Both trainers; run by `accelerate launch`, it writes averaged gradients and trained weights.

accelerate launch --multi_gpu --num_processes 2 -m tests.prior.train_together POSES OUT
"""

import sys
from pathlib import Path

import torch

from akd.base.files import write_tensors
from akd.base.process_group import ProcessGroup
from akd.posespace.dataset import load_poses
from akd.posespace.settings import PoseNetworkSettings, PoseTrainSettings
from akd.posespace.train import PoseSampler, PoseTrainer, train
from akd.prior.tiny.pool import Batch
from akd.prior.tiny.settings import TinySettings, TrainSettings
from akd.prior.tiny.train import Trainer

CPU = torch.device("cpu")
ROWS = 4
"""Of the whole batch, whatever the number of processes."""
POSES = PoseNetworkSettings(width=32, layers=1, heads=2, point_width=8)
TINY = TinySettings(
    frames=4, width=16, height=16, patch=8, channels=24, layers=1, heads=2, text_channels=8,
    refine_channels=4,
)  # fmt: skip


def gradients(poses: Path, group: ProcessGroup) -> dict[str, torch.Tensor]:
    """Gradients after one step of the pose model and of the tiny prior."""
    each = ROWS // group.size
    settings = PoseTrainSettings(batch=4 * each, poses_each=4, warm_up=2)
    pose = PoseTrainer(POSES, settings, device=CPU, seed=3, group=group)
    perturb(pose.network)
    pose.step(PoseSampler(load_poses(poses), device=CPU), part=0.0)
    tiny = Trainer(TINY, TrainSettings(batch=each), device=CPU, seed=3, group=group)
    perturb(tiny.network)
    draw = torch.Generator().manual_seed(9)
    shape = (TINY.frames, TINY.height, TINY.width, 3)
    videos = torch.rand(ROWS, *shape, generator=draw) * 2 - 1
    tokens = torch.randint(1, 5, (ROWS, 3), generator=draw)
    mine = group.part(ROWS)
    labels = torch.zeros(each, dtype=torch.long)
    tiny.step(Batch(videos[mine], videos[mine, 0], tokens[mine], labels), part=0.0)
    networks = {"pose": pose.network, "tiny": tiny.network}
    return {
        f"{name}.{key}": value.grad.clone()
        for name, network in networks.items()
        for key, value in network.named_parameters()
        if value.grad is not None
    }


def trained(poses: Path, out: Path, group: ProcessGroup) -> dict[str, torch.Tensor]:
    """Weights of the pose model after two steps, and two more of a run that resumes.

    Each process is given a folder of its own, of which only the first one's is written.
    """
    settings = PoseTrainSettings(batch=4 * ROWS // group.size, poses_each=4, warm_up=2)
    options = {"minutes": None, "device": CPU, "seed": 3, "network": POSES, "settings": settings}
    train([poses], out / f"rank {group.rank}", steps=2, **options)
    if group.size > 1:
        torch.distributed.barrier()  # until the first one has written
    network = train([poses], out / "rank 0", steps=4, **options)
    return {f"trained.{name}": value.clone() for name, value in network.state_dict().items()}


def perturb(network: torch.nn.Module) -> None:
    """Layers that begin at zero would hide errors."""
    draw = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.03 * torch.randn(parameter.shape, generator=draw))


if __name__ == "__main__":
    torch.set_num_threads(1)
    group, _ = ProcessGroup.join(CPU)
    given, out = Path(sys.argv[1]), Path(sys.argv[2])
    found = gradients(given, group) | trained(given, out, group)
    write_tensors(out / f"{group.rank} of {group.size}.safetensors", found)
