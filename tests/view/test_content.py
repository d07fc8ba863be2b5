"""What a path holds: files and runs below it, and nothing outside of it."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from akd.asset.asset import AssetError
from akd.export.creature import write_creature
from akd.report.entries import Outcome
from akd.report.view_data import ContactForces, ViewData
from akd.view.content import Content, safe_name
from akd.view.frames import distance_to_fit, height_on_screen
from akd.view.looks import divide_triangle, paint_surface
from akd.view.numbers import heading, legend
from akd.view.run_panel import enlarged
from akd.zoo.gait.clips import make_clip
from tests.commands.small_prior import write_fox
from tests.zoo.menagerie import creature


def test_a_file_without_clips_shows_its_neutral_pose(tmp_path):
    content = Content(write_fox(tmp_path / "fox.glb"))
    subject = content.subject("fox.glb")
    assert list(subject.motions) == ["neutral pose"]
    frames = subject.frames("neutral pose")
    assert (len(frames), frames.seconds) == (1, 0.0)
    assert np.ptp(frames.points(0)[:, 1]) == pytest.approx(subject.character.height, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("best", "shown"), [("motion", "distilled"), ("grounded", "grounded"), (None, "grounded")]
)
def test_a_run_shows_first_what_it_says_to_use(tmp_path, best, shown):
    fox = creature("fox")
    clips = [make_clip(fox, action, frames=4) for action in ("walk", "trot")]
    write_creature(fox, clips, tmp_path / "motion.glb")
    judged = {"score": 0.5, "fails": ["it slides"]}
    about = {"prompt": "a fox", "asset": "f.glb", "motion": {}, "grounded": judged, "best": best}
    (tmp_path / "metrics.json").write_text(json.dumps(about))
    subject = Content(tmp_path).first()
    assert set(subject.motions) == {"distilled", "grounded"}
    assert subject.best == shown
    assert subject.asset == "f.glb"
    assert subject.outcomes == {"grounded": Outcome(0.5, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("grounded", [0, 1])
def test_forces_are_shown_with_the_grounded_clip_wherever_it_is_in_the_file(tmp_path, grounded):
    fox = creature("fox")
    clips = [make_clip(fox, action, frames=4) for action in ("walk", "trot")]
    clips[grounded] = dataclasses.replace(clips[grounded], name="a fox (grounded)")
    write_creature(fox, clips, tmp_path / "motion.glb")
    forces = ContactForces(30.0, np.zeros((4, 1, 3)), np.zeros((4, 1, 3)))
    ViewData(forces=forces).write(tmp_path / "view.npz")
    subject = Content(tmp_path).subject("motion.glb")
    assert subject.motions["grounded"].name == "a fox (grounded)"


def test_the_heading_is_text_and_says_what_fails():
    shown = heading("<i>fox", ("a & b", "", "2 s"), Outcome(0.5, 2))
    assert "&lt;i&gt;fox" in shown
    assert "a &amp; b · 2 s<" in shown
    assert "score 0.50, fails 2 checks" in shown
    assert "score 0.90, passes all checks" in heading("fox", (), Outcome(0.9, 0))
    assert "score" not in heading("fox", (), None)


def test_a_legend_names_the_clips_that_are_compared():
    shown = legend([("<b>a", None, None), ("b", (1, 2, 3), Outcome(0.5, 1))])
    assert "&lt;b&gt;a" in shown
    assert "background:rgb(1, 2, 3)" in shown
    assert "b: <span" in shown
    assert "score 0.50, fails 1 check<" in shown


def test_a_folder_shows_the_first_file_that_can_be_shown(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"glTF")
    (tmp_path / "b.fbx").write_bytes(b"")
    write_fox(tmp_path / "c.vrm")
    content = Content(tmp_path)
    assert content.names() == ["a.glb", "b.fbx", "c.vrm"]
    assert content.first().name == "c.vrm"
    (tmp_path / "c.vrm").unlink()
    with pytest.raises(AssetError, match=r"a\.glb: "):
        Content(tmp_path).first()


@pytest.mark.parametrize(("width", "shown"), [(96, 288), (720, 720)])
def test_previews_fill_the_panel(width, shown):
    frame = np.zeros((64, width, 3), np.uint8)
    frame[:, : width // 2] = 200
    large = enlarged(frame)
    assert large.shape == (round(64 * shown / width), shown, 3)
    assert (large[5, 5] == 200).all()
    assert (large[5, -5] == 0).all()


def test_links_out_of_the_folder_are_not_shown(tmp_path):
    outside = write_fox(tmp_path / "fox.glb")
    root = tmp_path / "root"
    root.mkdir()
    write_fox(root / "own.glb")
    (root / "link.glb").symlink_to(outside)
    content = Content(root)
    assert content.names() == ["own.glb"]
    with pytest.raises(ValueError, match="there is no"):
        content.subject("../fox.glb")


def test_a_broken_file_does_not_hide_its_neighbours(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"glTF")
    (tmp_path / "b.glb").mkdir()
    content = Content(tmp_path)
    assert content.names() == ["a.glb"]
    with pytest.raises(AssetError, match=r"a\.glb: GLB: must have at least 20 bytes, got 4"):
        content.first()
    write_fox(tmp_path / "fox.glb")
    assert content.names() == ["a.glb", "fox.glb"]
    assert content.first().name == "fox.glb"


def test_a_clip_of_hours_is_shown_and_not_measured(tmp_path):
    subject = Content(write_fox(tmp_path / "fox.glb")).first()
    name = subject.best
    motion = subject.motions[name]
    pose = motion.pose[torch.tensor((0, 0))]
    long = dataclasses.replace(motion, times=torch.tensor((0.0, 601.0)), pose=pose)
    subject = dataclasses.replace(subject, motions={name: long})
    with pytest.raises(ValueError, match="must take at most 600 s to be measured, takes 601 s"):
        subject.metrics(name)
    assert subject.frames(name) is not None


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds neither"):
        Content(tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        Content(tmp_path / "missing")


@pytest.mark.slow
def test_files_deleted_under_the_viewer_are_one_line(tmp_path):
    """A file, the only file of a viewer, and the whole folder; after the server has started."""
    root = tmp_path / "root"
    write_fox(root / "a.glb")
    write_fox(root / "b.glb")
    content, only = Content(root), Content(root / "a.glb")
    (root / "a.glb").unlink()
    with pytest.raises(ValueError, match=r"there is no 'a\.glb' to show"):
        content.subject("a.glb")
    assert content.first().name == "b.glb"
    with pytest.raises(AssetError, match=r"a\.glb: "):
        only.first()
    (root / "b.glb").unlink()
    root.rmdir()
    with pytest.raises(ValueError, match="there is nothing left to show"):
        content.first()
    assert content.subject("b.glb").name == "b.glb"  # as long as it is kept in memory


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", ".hidden", "", "a\0b\n"])
def test_what_is_written_stays_inside(tmp_path, name):
    write_fox(tmp_path / "fox.glb")
    content = Content(tmp_path)
    path = content.new_path("runs", name)
    assert path.resolve().is_relative_to(content.root)
    assert path.parent == content.root / "runs"
    assert not safe_name(name).startswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["fox", "f" * 80])
def test_saved_poses_replace_no_file_and_are_listed(tmp_path, stem):
    content = Content(write_fox(tmp_path / f"{stem}.glb"))
    first = content.poses_path(tmp_path / f"{stem}.glb")
    write_fox(first)
    second = content.poses_path(tmp_path / f"{stem}.glb")
    assert (first.stem, second.stem) == (f"{stem[:40]}-poses", f"{stem[:40]}-poses-2")
    write_fox(second)
    write_fox(tmp_path / "other-poses.glb")
    assert set(content.names()) == {f"{stem}.glb", first.name, second.name}


def test_nothing_is_written_through_a_link(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    write_fox(root / "fox.glb")
    (root / "runs").symlink_to(outside)
    with pytest.raises(ValueError, match="leads out"):
        Content(root).new_path("runs", "walk")


@pytest.mark.slow
def test_runs_that_differ_by_their_seed_belong_together(tmp_path):
    write_fox(tmp_path / "fox-3.glb")
    for name in ("fox-walk-0", "fox-walk-12", "fox-run-0", "walk"):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "metrics.json").write_text("{}", "utf-8")
        write_fox(folder / "motion.glb")
    content = Content(tmp_path)
    assert content.seeds("runs/fox-walk-0") == ["runs/fox-walk-0", "runs/fox-walk-12"]
    assert content.seeds("runs/fox-run-0") == ["runs/fox-run-0"]
    assert content.seeds("runs/walk") == content.seeds("fox-3.glb") == []


def test_a_divided_triangle_covers_the_whole():
    lattice, faces = divide_triangle(4)
    assert (len(lattice), len(faces)) == (15, 16)
    a, b, c = np.moveaxis(lattice[faces][..., 1:], 1, 0)
    doubled = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert doubled == pytest.approx(np.full(16, 1 / 16))


def test_pieces_cover_the_surface_and_follow_it(fox):
    from akd.splat.paint import Paint

    surface = paint_surface(fox.mesh, Paint.of(fox))
    assert sum(len(piece.faces) for piece in surface.pieces) == len(fox.mesh.faces)
    world = fox.skeleton.forward(fox.bind)
    posed = surface.pose(world)
    assert np.sort(posed, axis=0)[[0, -1]] == pytest.approx(
        np.sort(fox.mesh.pose(world).numpy(), axis=0)[[0, -1]], abs=1e-5
    )


def test_small_parts_of_other_colours_keep_them(fox):
    """Thirty shades of brown take all pieces if colours are chosen by area alone."""
    from akd.math.srgb import to_linear
    from akd.splat.paint import Paint

    assert fox.mesh is not None
    count = len(fox.mesh.vertices)
    shade = torch.linspace(0.2, 0.8, 30).repeat(count // 30 + 1)[:count, None]
    colours = shade * torch.tensor([1.0, 0.7, 0.4])
    parrot = torch.tensor([[0.3, 0.65, 0.0], [0.2, 0.55, 0.75], [0.9, 0.9, 0.9]])
    for face, colour in zip(fox.mesh.faces[:: len(fox.mesh.faces) // 3], parrot, strict=False):
        colours[face] = colour
    paint = dataclasses.replace(Paint.of_vertices(fox.mesh), colours=to_linear(colours))
    pieces = paint_surface(fox.mesh, paint).pieces
    for colour in 255.0 * parrot.numpy():
        assert min(np.abs(piece.colour - colour).max() for piece in pieces) < 40


def test_view_data_comes_back_and_other_files_hold_nothing(fox, tmp_path):
    from akd.motion.motion import Motion

    pose = fox.control_rig.neutral.expand(3)
    start = Motion(fox.skeleton, np_times(3), pose, "start")
    forces = ContactForces(30.0, np.ones((3, 2, 3), np.float32), np.zeros((3, 2, 3), np.float32))
    path = tmp_path / "view.npz"
    ViewData(start, forces).write(path)
    found = ViewData.read(path, fox.skeleton)
    assert found.start is not None
    assert found.start.pose.rotation.numpy() == pytest.approx(pose.rotation.numpy())
    assert found.forces is not None
    assert found.forces.points == pytest.approx(forces.points)
    path.write_bytes(b"PK\3\4 broken")
    assert ViewData.read(path, fox.skeleton) == ViewData()
    assert ViewData.read(tmp_path / "missing.npz", fox.skeleton) == ViewData()


def np_times(count: int):
    return torch.arange(count) / 30.0


@pytest.mark.slow
def test_few_characters_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("akd.view.content._MOST_LOADED", 2)
    one = write_fox(tmp_path / "0.glb").read_bytes()
    for number in range(1, 4):
        (tmp_path / f"{number}.glb").write_bytes(one)
    content = Content(tmp_path)
    subjects = [content.subject(name) for name in content.names()]
    assert content.subject("3.glb") is subjects[3]
    assert content.subject("0.glb") is not subjects[0]


@pytest.mark.parametrize("aspect", [0.3, 0.46, 0.7, 0.97, 1.6])
def test_a_body_that_is_shown_higher_on_a_tall_screen_is_seen_whole(aspect):
    opening = 2.0 * np.arctan(0.25)
    away = distance_to_fit(np.array((0.0, 0.0, 4.0)), np.zeros(3), opening=opening, aspect=aspect)
    extent = 1.0 / float(np.linalg.norm(away)) / 0.25  # a radius of 1 m, in halves of the height
    top = height_on_screen(aspect) + extent
    assert top <= 1.0 + 1e-9
    if aspect < 0.5:  # a phone: all of it is above the panel
        assert height_on_screen(aspect) - extent >= 0.0


def test_a_row_of_bodies_is_seen_whole():
    away = np.array((0.0, 0.0, 4.0))
    opening = 2.0 * np.arctan(0.25)  # one body has a radius of 1 m

    def ends(row, aspect):
        eye = distance_to_fit(away, row, opening=opening, aspect=aspect)
        for end in (-0.5 * row, 0.5 * row):
            depth = eye[2] - end[2]
            yield (abs(end[0]) + 1.0) / depth / aspect, 1.0 / depth

    alone = distance_to_fit(away, np.zeros(3), opening=opening, aspect=0.5)
    assert alone == pytest.approx((0.0, 0.0, 8.0))
    for row in ((6.0, 0.0, 0.0), (4.0, 0.0, 5.0), (0.0, 0.0, 3.0)):
        for aspect in (0.5, 1.6):
            seen = list(ends(np.array(row), aspect))
            assert max(side for pair in seen for side in pair) == pytest.approx(0.25)
