"""Time, memory and agreement of the rasterizer.

python -m benchmarks.render                                  on this CPU
python -m benchmarks.render --device cuda --against gsplat   on a GPU, beside gsplat in the same run
python -m benchmarks.render --fit 10                         clouds fitted to ten real assets: PSNR

Every section stands alone: one that fails prints its traceback and the others still run.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch


def figure(
    frames: int, splats: int, bones: int, size: tuple[int, int], device: str, seed: int = 0
) -> dict:
    """A moving figure 1.8 m tall made of capsules, filling 85 % of the image's height.

    Arguments of `rasterize`: Gaussians on the capsules, four bones each, sizes from their spacing.
    """
    g = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=g)

    width, height = size
    origin = (uniform(bones, 3) - 0.5) * torch.tensor([0.7, 1.6, 0.25])
    along = torch.nn.functional.normalize(
        torch.randn(bones, 3, generator=g) * torch.tensor([0.5, 1.0, 0.3]), dim=-1
    )
    length, radius = 0.35, 0.07
    spacing = math.sqrt(bones * 2.0 * math.pi * radius * length / splats)
    of_bone = torch.randint(0, bones, (splats,), generator=g)
    side = torch.nn.functional.normalize(
        torch.linalg.cross(along, torch.tensor([0.0, 0.0, 1.0]).expand(bones, 3)), dim=-1
    )
    other = torch.linalg.cross(along, side)
    angle = (2.0 * math.pi * uniform(splats))[:, None]
    means = (
        origin[of_bone]
        + (uniform(splats, 1) - 0.5) * length * along[of_bone]
        + radius * (angle.cos() * side[of_bone] + angle.sin() * other[of_bone])
    )
    distance = (means[:, None] - origin).norm(dim=-1)
    near, index = distance.topk(min(4, bones), largest=False)
    scales = 0.65 * spacing * torch.exp(0.35 * torch.randn(splats, 3, generator=g))
    axes = torch.linalg.qr(torch.randn(splats, 3, 3, generator=g))[0]
    time_ = torch.arange(frames)[:, None, None] / 16.0
    turn = (
        0.35
        * torch.randn(bones, 3, generator=g)
        * torch.sin(2.0 * math.pi * (time_ + uniform(bones, 3)))
    )
    skew = torch.zeros(frames, bones, 3, 3)
    skew[..., 0, 1], skew[..., 0, 2], skew[..., 1, 2] = -turn[..., 2], turn[..., 1], -turn[..., 0]
    rotation = torch.linalg.matrix_exp(skew - skew.transpose(-1, -2))
    shift = origin - (rotation @ origin[..., None]).squeeze(-1) + torch.tensor([0.0, 0.0, 3.0])
    focal = 0.85 * height / 1.8 * 3.0
    call = {
        "camera_from_mesh": torch.cat((rotation, shift[..., None]), dim=-1),
        "means": means,
        "factors": axes * scales[:, None, :],
        "colours": uniform(1, splats, 3),
        "opacities": torch.sigmoid(1.5 * torch.randn(splats, generator=g) + 1.5),
        "bones": index,
        "weights": torch.softmax(-near / 0.06, dim=-1),
        "intrinsics": torch.tensor([focal, focal, width / 2, height / 2]).expand(frames, 4),
    }
    call = {k: v.to(device) for k, v in call.items()}
    return call | {"width": width, "height": height}


def ours(call: dict) -> tuple[torch.Tensor, torch.Tensor]:
    from akd.splat.raster_call import RasterCall
    from akd.splat.rasterize import rasterize

    return rasterize(RasterCall(**call))


def gsplat(call: dict) -> tuple[torch.Tensor, torch.Tensor]:
    from akd.splat.raster_call import RasterCall
    from akd.splat.raster_gsplat import rasterize_gsplat

    return rasterize_gsplat(RasterCall(**call))


def wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def best_time(work: Callable[[], object], device: str, *, repeats: int = 12) -> tuple[float, float]:
    """Best and median seconds of several runs after two to warm up."""
    for _ in range(2):
        work()
    times = []
    for _ in range(repeats):
        wait(device)
        start = time.perf_counter()
        work()
        wait(device)
        times.append(time.perf_counter() - start)
    times.sort()
    return times[0], times[len(times) // 2]


def both_ways(path: Callable, call: dict, pull: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Forward, and backward to the bones."""
    leaf = call["camera_from_mesh"].clone().requires_grad_()

    def work() -> torch.Tensor:
        picture, _ = path(call | {"camera_from_mesh": leaf})
        return torch.autograd.grad(picture, leaf, pull)[0]

    return work


def peak_memory(work: Callable[[], object]) -> tuple[float, float]:
    """MiB above what is held before: torch's peak, and Warp's own pool's."""
    import warp as wp

    work()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    torch.cuda.synchronize()
    torch_peak = torch.cuda.max_memory_allocated() - before
    try:
        pool = wp.get_mempool_used_mem_high(wp.get_cuda_device())
    except Exception:
        pool = 0
    return torch_peak / 2**20, pool / 2**20


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    a, b = a.detach().double().flatten().cpu(), b.detach().double().flatten().cpu()
    return float(a @ b / (a.norm() * b.norm()).clamp_min(1e-300))


LEAVES = ("camera_from_mesh", "means", "factors", "colours", "opacities")


def everything(path: Callable, call: dict, pull: torch.Tensor) -> tuple:
    """Image, transmittance, and the gradients of all leaves."""
    call = call | {k: call[k].clone().requires_grad_() for k in LEAVES}
    image, transmittance = path(call)
    grads = torch.autograd.grad(image, [call[k] for k in LEAVES], pull)
    return image.detach(), transmittance.detach(), grads


def agreement(title: str, a: tuple, b: tuple) -> None:
    difference = (a[0].cpu() - b[0].cpu()).abs()
    transmittance = float((a[1].cpu() - b[1].cpu()).abs().max())
    print(
        f"  {title}: images differ by at most {float(difference.max()):.2e} (mean "
        f"{float(difference.mean()):.1e}; {int((difference > 1e-3).any(-1).sum())} of "
        f"{difference[..., 0].numel()} pixels above 1e-3), transmittance by {transmittance:.2e}"
    )
    for name, one, other in zip(LEAVES, a[2], b[2], strict=True):
        x, y = one.detach().cpu().double(), other.detach().cpu().double()
        off = float((x - y).norm() / y.norm().clamp_min(1e-300))
        print(f"    d {name:17s} cosine {cosine(x, y):.7f}  relative difference {off:.1e}")


def to_cpu(call: dict) -> dict:
    return {k: v.cpu() if isinstance(v, torch.Tensor) else v for k, v in call.items()}


def section_first_launch(device: str) -> None:
    start = time.perf_counter()
    call = figure(2, 500, 6, (64, 48), device)
    both_ways(ours, call, torch.ones(2, 48, 64, 3, device=device))()
    wait(device)
    print(f"  first call, compilation included: {time.perf_counter() - start:.1f} s")


def section_reference(device: str) -> None:
    from akd.splat.raster_call import RasterCall
    from akd.splat.reference import rasterize_reference

    def reference(call: dict) -> tuple[torch.Tensor, torch.Tensor]:
        return rasterize_reference(RasterCall(**call))

    call = figure(3, 400, 8, (60, 44), device, seed=3)
    pull = torch.randn(3, 44, 60, 3, generator=torch.Generator().manual_seed(1))
    fast = everything(ours, call, pull.to(device))
    exact = {
        k: v.cpu().double() if torch.is_tensor(v) and v.is_floating_point() else v
        for k, v in to_cpu(call).items()
    }
    agreement("against the float64 reference", fast, everything(reference, exact, pull.double()))


def section_cpu_path(device: str) -> None:
    call = figure(4, 5000, 24, (256, 192), device, seed=4)
    pull = torch.randn(4, 192, 256, 3, generator=torch.Generator().manual_seed(1))
    agreement(
        "against the CPU kernels",
        everything(ours, call, pull.to(device)),
        everything(ours, to_cpu(call), pull),
    )


def section_gsplat(device: str) -> None:
    import gsplat as package

    print(f"  gsplat {getattr(package, '__version__', '?')}")
    call = figure(4, 20_000, 30, (720, 480), device, seed=5)
    pull = torch.randn(4, 480, 720, 3, generator=torch.Generator().manual_seed(1)).to(device)
    for antialias in (False, True):
        this = call | {"antialias": antialias}
        title = "against gsplat, antialiased" if antialias else "against gsplat, classic"
        agreement(title, everything(ours, this, pull), everything(gsplat, this, pull))


def section_budget(device: str, against: str) -> None:
    frames, splats, size = 49, 50_000, (720, 480)
    call = figure(frames, splats, 30, size, device)
    pull = torch.randn(frames, size[1], size[0], 3, device=device)
    rows = {}
    for name, path in (("akd", ours), ("gsplat", gsplat)):
        if name == "gsplat" and against != "gsplat":
            continue
        try:
            work = both_ways(path, call, pull)
            with torch.no_grad():
                forward = best_time(lambda p=path: p(call), device)
            total = best_time(work, device)
            memory, pool = peak_memory(work)
            rows[name] = (total[0], memory, work())
            print(
                f"  {name:7s} forward {1e3 * forward[0]:7.2f} ms, forward + backward to bones best "
                f"{1e3 * total[0]:7.2f} median {1e3 * total[1]:7.2f} ms, peak {memory:7.1f} MiB "
                f"(Warp's pool has held {pool:.1f} MiB at most)"
            )
        except Exception:
            traceback.print_exc()
    if len(rows) == 2:
        a, b = rows["akd"], rows["gsplat"]
        print(
            f"  akd / gsplat: time {a[0] / b[0]:.3f}, memory {a[1] / b[1]:.3f}; "
            f"bone gradients: cosine {cosine(a[2], b[2]):.7f}"
        )


def section_stages(device: str) -> None:
    """Where the time goes on CUDA, by torch's profiler."""
    from torch.profiler import ProfilerActivity, profile

    frames, size = 49, (720, 480)
    call = figure(frames, 50_000, 30, size, device)
    work = both_ways(ours, call, torch.randn(frames, size[1], size[0], 3, device=device))
    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as trace:
        work()
        torch.cuda.synchronize()
    totals: dict[str, list[float]] = {}
    for event in trace.events():
        spent = getattr(event, "device_time_total", 0.0) or 0.0
        if spent and str(getattr(event, "device_type", "")).endswith("CUDA"):
            entry = totals.setdefault(event.name[:70], [0.0, 0])
            entry[0] += spent
            entry[1] += 1
    for name, (spent, count) in sorted(totals.items(), key=lambda x: -x[1][0])[:14]:
        print(f"  {spent / 1e3:8.3f} ms  {int(count):4d} x  {name}")


def section_tiles(device: str) -> None:
    from akd.splat import raster_tiles

    frames, size = 49, (720, 480)
    call = figure(frames, 50_000, 30, size, device)
    pull = torch.randn(frames, size[1], size[0], 3, device=device)
    defaults = raster_tiles.TileRaster.__init__.__kwdefaults__
    kept = dict(defaults)
    try:
        for tile in (8, 16):
            for group in (250_000, 500_000, 1_000_000, 3_000_000):
                defaults.update(tile=tile, group=group)
                best, _ = best_time(both_ways(ours, call, pull), device, repeats=5)
                print(f"  tiles of {tile:2d}, groups of {group:8d} Gaussians: {1e3 * best:7.2f} ms")
    finally:
        defaults.update(kept)


def section_cpu_budget(device: str) -> None:
    del device
    for frames, splats, size, limit in ((16, 5000, 64, 0.05), (1, 50_000, 512, 0.1)):
        call = figure(frames, splats, 24, (size, size), "cpu")
        pull = torch.randn(frames, size, size, 3)
        for threads in (1, None):
            work = both_ways(ours, call | {"threads": threads}, pull)
            with torch.no_grad():
                forward = best_time(lambda t=threads, c=call: ours(c | {"threads": t}), "cpu")
            best, median = best_time(work, "cpu", repeats=20)
            print(
                f"  {frames:2d} frames, {splats:6d} Gaussians, {size} x {size}, threads "
                f"{threads or 'all'}: forward {1e3 * forward[0]:6.1f} ms, forward + backward best "
                f"{1e3 * best:6.1f} median {1e3 * median:6.1f} ms (to be under {1e3 * limit:.0f})"
            )


def section_scaling(device: str) -> None:
    cuda = device.startswith("cuda")
    frames, splats, side = (16, 20_000, 256) if cuda else (4, 4000, 64)
    repeats = 6 if cuda else 5

    def row(label: str, f: int, n: int, s: int) -> None:
        call = figure(f, n, 24, (s, s), device)
        work = both_ways(ours, call, torch.randn(f, s, s, 3, device=device))
        print(f"  {label:24s} {1e3 * best_time(work, device, repeats=repeats)[0]:8.2f} ms")

    for k in (1, 2, 4, 8):
        row(f"N = {splats * k}", frames, splats * k, side)
    for k in (1, 2, 4):
        row(f"T = {frames * k}", frames * k, splats, side)
    for k in (1, 2, 4):
        row(f"{side * k} x {side * k} pixels", frames, splats, side * k)


FIT_ASSETS = (
    "khronos/Fox/glTF-Binary/Fox.glb",
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
    "threejs/RobotExpressive/RobotExpressive.glb",
    "mesh2motion/models-variation/fox-cat.glb",
    "mesh2motion/models-variation/fox-dog.glb",
    "mesh2motion/models-variation/human-female.glb",
    "mesh2motion/models/model-spider.glb",
    "mesh2motion/models/model-bird.glb",
    "quaternius/single_knight_pack/KnightCharacter.glb",
    "kenney/character.glb",
)


def section_fit(splats: int, iterations: int, assets: int) -> None:
    """PSNR inside the silhouette's box, over grey, on views that were not fitted."""
    from akd.asset.read import read_asset
    from akd.rig.character import load_character
    from akd.splat.fit import fit_splats, psnr, random_cameras
    from akd.splat.paint import Paint
    from akd.splat.render import render
    from akd.splat.settings import FitSettings
    from akd.splat.surface import surface_splats
    from akd.splat.views import MeshViews

    folder = Path(__file__).resolve().parents[1].parent / "shared" / "assets"
    grey = torch.tensor([0.5, 0.5, 0.5])
    print(
        f"  {'asset':22s} {'cloud':8s} {'Gaussians':>9s} {'seconds':>8s} "
        f"{'128 px':>7s} {'512 px':>7s}"
    )
    rows: dict[str, list[tuple[float, float]]] = {"surface": [], "fitted": []}
    for name in FIT_ASSETS[:assets]:
        try:
            character = load_character(read_asset(folder / name))
            mesh, paint = character.mesh, Paint.of(character)
            assert mesh is not None
            views = MeshViews(mesh, paint)
            settings = FitSettings(splats=splats, iterations=iterations)
            for kind, row in rows.items():
                start = time.perf_counter()
                if kind == "surface":
                    cloud = surface_splats(mesh, splats, paint=paint)
                else:
                    cloud = fit_splats(mesh, paint=paint, settings=settings)
                seconds = time.perf_counter() - start
                quality = []
                for side in (128, 512):
                    total, count = 0.0, 5
                    unseen = torch.Generator().manual_seed(999)
                    for camera in random_cameras(mesh, count, (side,), unseen):
                        colour, coverage = views.render(camera, samples=3)
                        truth = (colour + (1.0 - coverage)[..., None] * grey)[0]
                        seen = render(cloud, camera).over(grey).clamp(0.0, 1.0)[0].detach()
                        y, x = torch.nonzero(coverage[0] > 0, as_tuple=True)
                        box = (slice(y.min(), y.max() + 1), slice(x.min(), x.max() + 1))
                        total += psnr(seen[box], truth[box])
                    quality.append(total / count)
                row.append((quality[0], quality[1]))
                print(
                    f"  {Path(name).stem:22s} {kind:8s} {len(cloud):9d} {seconds:8.1f} "
                    f"{quality[0]:7.2f} {quality[1]:7.2f}",
                    flush=True,
                )
        except Exception:
            traceback.print_exc(file=sys.stdout)
    for kind, values in rows.items():
        if values:
            mean = torch.tensor(values).mean(0).tolist()
            print(f"  mean of {len(values)}: {kind:8s} {mean[0]:.2f} dB, {mean[1]:.2f} dB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--against", choices=("nothing", "gsplat"), default="nothing")
    parser.add_argument("--fit", type=int, default=0, metavar="ASSETS", help="only fit clouds")
    parser.add_argument("--fit-splats", type=int, default=20_000)
    parser.add_argument("--fit-iterations", type=int, default=1000)
    options = parser.parse_args()
    if options.fit:
        section_fit(options.fit_splats, options.fit_iterations, options.fit)
        return
    device, cuda = options.device, options.device.startswith("cuda")
    import warp as wp

    print(f"torch {torch.__version__}, warp {wp.__version__}, python {platform.python_version()}")
    if cuda:
        print(torch.cuda.get_device_name(0))
    sections: list[tuple[str, Callable[[], None]]] = [
        ("First call", lambda: section_first_launch(device)),
        ("Agreement with the reference", lambda: section_reference(device)),
    ]
    if cuda:
        sections.append(("Agreement of CUDA and CPU", lambda: section_cpu_path(device)))
        if options.against == "gsplat":
            sections.append(("Agreement with gsplat", lambda: section_gsplat(device)))
        sections += [
            (
                "49 frames, 50,000 Gaussians, 720 x 480, 30 bones",
                lambda: section_budget(device, options.against),
            ),
            ("Where the time goes", lambda: section_stages(device)),
            ("Tile and group sizes", lambda: section_tiles(device)),
        ]
    else:
        sections.append(("Budgets on the CPU", lambda: section_cpu_budget(device)))
    sections.append(("Scaling", lambda: section_scaling(device)))
    failed = []
    for title, section in sections:
        print(f"\n{title}", flush=True)
        try:
            section()
        except Exception:
            failed.append(title)
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
