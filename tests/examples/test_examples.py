"""Every example runs, small, and the documentation quotes it as it is."""

import ast
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import akd
from akd.presets import TINY
from akd.scene.follow import SIDE, bounding_boxes, follow
from akd.scene.video import Video
from tests.commands.small_prior import write_weights

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
QUOTED = re.compile(r"From `examples/(\w+\.py)`.*?```python\n(.*?)```", re.DOTALL)
RESULTS = ("motion.glb", "video.mp4", "metrics.json", "report.html")
QUICK = replace(
    TINY,
    splats=200,
    warm_start=replace(TINY.warm_start, samples=2, steps=2, trial=2, iterations=2),
)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def example(monkeypatch):
    """The names that an example defines, by its number."""
    monkeypatch.setattr("akd.presets.TINY", QUICK)
    return lambda number: runpy.run_path(str(EXAMPLES[number - 1]))


def has_results(out: Path) -> bool:
    return all((out / name).stat().st_size for name in RESULTS)


@pytest.mark.slow
def test_animate_a_file(example, weights, tmp_path, capsys):
    clip = example(1)["main"](out=tmp_path, iterations=10, physics=False, weights=weights)
    assert has_results(tmp_path)
    assert len(clip.history) == 10
    said = capsys.readouterr().out
    assert "distil" in said
    assert "10/10  loss" in said


@pytest.mark.slow
def test_own_prior(example, tmp_path):
    names = example(2)
    assert isinstance(names["OneVideo"](torch.zeros(4, 8, 8, 3)), akd.VideoPrior)
    names["main"](out=tmp_path, iterations=2, size=16)
    assert has_results(tmp_path)


@pytest.mark.slow
def test_own_loss(example, weights, tmp_path):
    clip = example(3)["main"](out=tmp_path, iterations=4, physics=False, weights=weights)
    assert has_results(tmp_path)
    assert all("crouch" in values for values in clip.history)
    assert clip.history[-1]["crouch"] < clip.history[0]["crouch"]


@pytest.mark.slow
def test_own_renderer(example, weights, tmp_path):
    names = example(4)
    renderer = names["PointRenderer"]()
    assert isinstance(renderer, akd.Renderer)
    names["main"](out=tmp_path, iterations=2, weights=weights)
    assert has_results(tmp_path)
    fox = akd.zoo("fox")
    assert fox.mesh is not None
    cloud = akd.splat(fox, quick=True)
    bones = fox.mesh.skin.bone_transforms(fox.skeleton.forward(fox.bind))[None]
    boxes = bounding_boxes(cloud, bones)
    camera = follow(*boxes, SIDE, forward=fox.forward, width=48, height=32)
    bones.requires_grad_()
    own, ours = (r.render(cloud, bones, camera) for r in (renderer, akd.SplatRenderer()))
    body = ours.colour.detach().amax(-1) > 0.2
    assert int(body.sum()) > 100
    assert float((own.colour - ours.colour).detach()[body].abs().mean()) < 0.08
    own.colour.sum().backward()
    assert bones.grad is not None
    assert float(bones.grad.abs().sum()) > 0.0


@pytest.mark.slow
def test_ground_a_mocap_clip(example, tmp_path):
    grounding = example(5)["main"](out=tmp_path, iterations=2)
    assert {"motion.bvh", "physics.npz", "body.xml", "report.html"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert grounding.result.before.skate > 2.0 * grounding.result.after.skate


@pytest.mark.slow
def test_render_a_turntable(example, tmp_path):
    path = example(6)["main"](out=tmp_path / "horse.mp4", size=(48, 32), fps=4.0)
    video = Video.read(path)
    assert len(video) > 8
    assert video.frames.shape[1:3] == (32, 48)
    # Seen from the front the horse is narrower than from the side.
    assert float((video.frames[2] - video.frames[len(video) // 4 + 2]).abs().mean()) > 0.01


@pytest.mark.slow
def test_measure_a_folder(example, tmp_path):
    rows = example(7)["main"](out=tmp_path / "measures.csv")
    assert [row["file"] for row in rows] == ["fox.glb", "man.glb"]
    assert all(row["verdict"].startswith("moves: ") for row in rows)
    assert len((tmp_path / "measures.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_and_documented(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 60
    tree = ast.parse(text)
    said = ast.get_docstring(tree) or ""
    if "own" in path.stem:  # what a researcher writes
        first = min(n.lineno for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef))
        assert sum(bool(line.strip()) for line in text.splitlines()[first - 1 :]) < 40
    assert f"python examples/{path.name}" in said
    assert path.name in (ROOT / "docs" / "examples.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["examples.md", "api.md"])
def test_documentation_quotes_the_examples(page):
    found = QUOTED.findall((ROOT / "docs" / page).read_text("utf-8"))
    assert found
    for name, block in found:
        # Formatting may indent a part of a class otherwise, and add empty lines.
        quoted, file = " ".join(block.split()), (ROOT / "examples" / name).read_text("utf-8")
        assert quoted in " ".join(file.split()), f"{page}: {name}"


def test_the_api_page_names_everything_public():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert [name for name in akd.__all__ if name not in page] == []
