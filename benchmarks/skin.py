"""Our weights beside Blender's automatic weights, both judged by the artist's.

Every rigged file with a clip: the artist's weights are replaced, the artist's clip is played, and
the vertices are compared with where the artist's weights put them. Blender gets the same vertices,
the same bones (one a segment, summed by joint) and works twice: on the file's own vertices, as its
importer leaves them, and on welded ones.

    python -m benchmarks.skin --blender-python VENV/bin/python [--report docs/benchmarks/skin.md]

VENV holds `bpy` from PyPI, which needs a Python of its own version.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from akd.asset.read import read_asset
from akd.motion.clip import motion_from_clip
from akd.rig.character import Character, load_character
from akd.rig.skin import skin_points
from akd.rig.skinning.automatic import character_segments, deforming_joints
from akd.rig.skinning.heat import HeatSettings, solve_heat_weights
from akd.rig.skinning.segments import BoneSegments
from akd.rig.skinning.surface_repair import weld
from benchmarks.measured import write_report

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
FRAMES = 16
LEFT_OUT = ("robustness/", "mesh2motion/test-files/", "khronos/SimpleSkin", "khronos/RiggedSimple")
"""Not characters, or the same character again with a fault in its clip."""

BLENDER = """
import bpy, sys, time
import numpy as np
source, target = sys.argv[-2:]
given = np.load(source)
bpy.ops.wm.read_factory_settings(use_empty=True)
mesh = bpy.data.meshes.new("mesh")
mesh.from_pydata(given["vertices"].tolist(), [], given["faces"].tolist())
mesh.update()
body = bpy.data.objects.new("body", mesh)
bpy.context.collection.objects.link(body)
armature = bpy.data.objects.new("armature", bpy.data.armatures.new("armature"))
bpy.context.collection.objects.link(armature)
bpy.context.view_layer.objects.active = armature
bpy.ops.object.mode_set(mode="EDIT")
for index, (start, end) in enumerate(zip(given["starts"], given["ends"])):
    bone = armature.data.edit_bones.new(f"b{index}")
    bone.head, bone.tail = start.tolist(), end.tolist()
bpy.ops.object.mode_set(mode="OBJECT")
body.select_set(True)
armature.select_set(True)
bpy.context.view_layer.objects.active = armature
began = time.perf_counter()
try:
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
except RuntimeError as error:
    print("Warning:", error)
seconds = time.perf_counter() - began
weights = np.zeros((len(mesh.vertices), len(given["starts"])))
groups = {g.index: int(g.name[1:]) for g in body.vertex_groups}
for vertex in mesh.vertices:
    for group in vertex.groups:
        weights[vertex.index, groups[group.group]] = group.weight
np.savez(target, weights=weights, seconds=seconds)
"""


class Blender:
    """Automatic weights by a Blender in a process of its own."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        self.script = folder / "automatic_weights.py"
        self.script.write_text(BLENDER)

    def weights(
        self, vertices: np.ndarray, faces: np.ndarray, segments: BoneSegments, limit: float = 300.0
    ) -> tuple[np.ndarray, float, bool]:
        """[V, B] weights by joint, seconds, and whether Blender said it failed."""
        source, target = self.folder / "in.npz", self.folder / "out.npz"
        ends = segments.ends.copy()
        short = np.linalg.norm(ends - segments.starts, axis=1) < 1e-5
        ends[short, 1] += 1e-3  # Blender removes bones without a length
        np.savez(source, vertices=vertices, faces=faces, starts=segments.starts, ends=ends)
        done = subprocess.run(
            [str(self.python), str(self.script), str(source), str(target)],
            capture_output=True, text=True, timeout=limit, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-2000:])
        result = np.load(target)
        by_joint = np.zeros((len(vertices), len(segments.joints)))
        np.add.at(by_joint.T, segments.owner, result["weights"].T)
        said = "failed to find solution" in done.stdout + done.stderr
        return by_joint, float(result["seconds"]), said


def characters() -> list[tuple[str, Character]]:
    found = []
    for path in sorted([*ASSETS.glob("**/*.glb"), *ASSETS.glob("**/*.gltf")]):
        name = path.relative_to(ASSETS).as_posix()
        if name.startswith(LEFT_OUT) or "/glTF/" in name or "Draco" in name:
            continue
        try:
            asset = read_asset(path)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if asset.skins and any(c.end > c.start for c in asset.clips) and asset.vertex_count:
            found.append((name, load_character(asset)))
    return found


def artist_frames(character: Character) -> tuple[str, torch.Tensor]:
    """World transforms of the joints over a clip: a walk where there is one."""
    clips = [c for c in character.asset.clips if c.end > c.start]
    wanted = ("walk", "run", "gallop", "swim", "attack")
    chosen = next((c for w in wanted for c in clips if w in c.name.lower()), clips[0])
    motion = motion_from_clip(character, chosen)
    times = torch.linspace(float(motion.times[0]), float(motion.times[-1]), FRAMES)
    return chosen.name, motion.sample(times).world()


def rms_percent(
    character: Character, world: torch.Tensor, segments: BoneSegments, weights: np.ndarray
) -> float:
    """RMS distance to the artist's vertices over the clip, in % of body height.

    `weights` is [V, B] by joint. A vertex that nothing moves stays where it was bound. Vertices of
    rigid meshes are left out: neither method touches them.
    """
    mesh = character.mesh
    assert mesh is not None
    skinned = mesh.skin.bones[:, 0] < sum(len(s.joints) for s in character.asset.skins)
    points = mesh.vertices[skinned]
    true = skin_points(
        mesh.skin.bone_transforms(world), points, mesh.skin.bones[skinned],
        mesh.skin.weights[skinned],
    )  # fmt: skip
    bind = character.skeleton.forward(character.bind)
    moves = world @ torch.linalg.inv(bind)
    joints = torch.from_numpy(segments.joints)
    total = weights.sum(axis=1, keepdims=True)
    normal = torch.from_numpy(weights / np.where(total > 0, total, 1.0)).float()[skinned]
    affine = torch.einsum("vb,tbij->tvij", normal, moves[:, joints, :3])
    ours = (affine[..., :3] @ points[..., None]).squeeze(-1) + affine[..., 3]
    held = torch.from_numpy(total[:, 0] <= 0)[skinned]
    ours[:, held] = points[held]
    return float((ours - true).square().sum(-1).mean().sqrt()) / character.height * 100.0


def dense(solved_bones: np.ndarray, solved: np.ndarray, count: int) -> np.ndarray:
    weights = np.zeros((len(solved), count))
    for k in range(solved.shape[1]):
        np.add.at(weights, (np.arange(len(solved)), solved_bones[:, k]), solved[:, k])
    return weights


def compare(blender: Blender | None, only: str) -> list[str]:
    rows = [
        "| file | clip | vertices | joints | ours, % | Blender, % | Blender welded, % | ours, s | "
        "Blender, s | Blender welded, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    wins = wins_welded = failures = files = 0
    for name, character in characters():
        if only and only not in name:
            continue
        mesh = character.mesh
        assert mesh is not None
        clip, world = artist_frames(character)
        segments = character_segments(character, deforming_joints(character))
        vertices, faces = mesh.vertices.double().numpy(), mesh.faces.numpy()
        began = time.perf_counter()
        solved = solve_heat_weights(vertices, faces, segments, settings=HeatSettings())
        seconds = time.perf_counter() - began
        ours = rms_percent(
            character, world, segments, dense(solved.bones, solved.weights, len(segments.joints))
        )
        cells = ["-"] * 4
        if blender is not None:
            files += 1
            raw, raw_seconds, raw_failed = blender.weights(vertices, faces, segments)
            welded = weld(vertices, faces, is_turned=False)
            merged, merged_seconds, merged_failed = blender.weights(
                welded.vertices, welded.faces, segments
            )
            theirs = rms_percent(character, world, segments, raw)
            theirs_welded = rms_percent(character, world, segments, merged[welded.source])
            wins += ours < theirs
            wins_welded += ours < theirs_welded
            failures += raw_failed or merged_failed
            mark = [" (failed)" if f else "" for f in (raw_failed, merged_failed)]
            cells = [
                f"{theirs:.2f}{mark[0]}", f"{theirs_welded:.2f}{mark[1]}",
                f"{raw_seconds:.2f}", f"{merged_seconds:.2f}",
            ]  # fmt: skip
        row = (
            f"| {name} | {clip} | {len(vertices)} | {len(segments.joints)} | {ours:.2f} | "
            f"{cells[0]} | {cells[1]} | {seconds:.2f} | {cells[2]} | {cells[3]} |"
        )
        print(row, flush=True)
        rows.append(row)
    if files:
        rows.append("")
        rows.append(
            f"Lower error than Blender on {wins} of {files} files as imported, on {wins_welded} of "
            f"{files} welded. Blender said that it failed on {failures}; ours on 0."
        )
        print(rows[-1])
    return rows


def scale(blender: Blender | None) -> list[str]:
    """Time against the number of vertices, on a creature of the zoo with its own 30-odd bones."""
    from akd.rig.skinning.segments import bone_segments
    from akd.zoo.creature import build_creature

    rows = [
        "| vertices | joints | ours, s | Blender, s | Blender / ours |",
        "| --- | --- | --- | --- | --- |",
    ]
    for count in (2_000, 10_000, 25_000, 50_000):
        creature = build_creature("fox", vertices=count)
        positions = creature.skeleton.forward(creature.skeleton.rest)[:, :3, 3].double().numpy()
        parents = {j: p for j, p in enumerate(creature.skeleton.parents) if j > 0}
        vertices = creature.mesh.vertices.double().numpy()
        faces = creature.mesh.faces.numpy()
        segments = bone_segments(creature.skeleton, positions, parents, vertices, faces)
        began = time.perf_counter()
        solve_heat_weights(vertices, faces, segments)
        ours = time.perf_counter() - began
        theirs = "-"
        ratio = "-"
        if blender is not None:
            try:
                _, seconds, _ = blender.weights(vertices, faces, segments)
                theirs, ratio = f"{seconds:.2f}", f"{seconds / ours:.1f}"
            except subprocess.TimeoutExpired:
                theirs, ratio = "over 300", f"over {300 / ours:.0f}"
        row = f"| {len(vertices)} | {len(segments.joints)} | {ours:.2f} | {theirs} | {ratio} |"
        print(row, flush=True)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blender-python", type=Path, help="a Python that can import bpy")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--report", type=Path, help="write the tables here, as Markdown")
    parser.add_argument("--skip-scale", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        blender = None
        if arguments.blender_python:
            blender = Blender(arguments.blender_python, Path(folder))
        # The first solve compiles kernels; that is not what is measured.
        warm_up()
        tables = compare(blender, arguments.only)
        scales = [] if arguments.skip_scale else scale(blender)
    if arguments.report:
        write_report(arguments.report, "\n".join([*tables, "", *scales, ""]))


def warm_up() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    middle = np.array([[0.1, 0.1, 0.1]])
    solve_heat_weights(
        corners, faces, BoneSegments(np.array([0]), middle, middle + 0.1, np.array([0]))
    )


if __name__ == "__main__":
    main()
