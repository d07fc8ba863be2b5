"""Large surfaces in the viewer: fewer triangles, in the same places, with the same colours."""

import numpy as np
import pytest
import torch
from scipy.spatial import cKDTree

from akd.splat.paint import Paint
from akd.view import looks
from akd.view.coarsen import coarsen


@pytest.mark.slow
def test_the_surface_keeps_its_place_in_every_pose(fox):
    target = len(fox.mesh.faces) // 2
    small, faces, owner = coarsen(fox.mesh, target)
    assert 0.6 * target < len(faces) <= target
    assert faces.max() == len(small.vertices) - 1
    assert len(np.unique(np.sort(faces, axis=1), axis=0)) == len(faces)
    world = fox.skeleton.forward(fox.skeleton.rest)
    whole, left = fox.mesh.pose(world).numpy(), small.pose(world).numpy()
    assert cKDTree(whole).query(left)[0].max() < 1e-6
    assert cKDTree(left).query(whole)[0].max() < 0.1 * fox.height
    # A triangle is near the one that it remains of.
    apart = left[faces].mean(1) - whole[fox.mesh.faces[owner]].mean(1)
    assert np.linalg.norm(apart, axis=1).max() < 0.1 * fox.height


def test_what_is_reduced_is_said(fox):
    paint = Paint.of(fox)
    assert looks.paint_surface(fox.mesh, paint).note == ""
    surface = looks.paint_surface(fox.mesh, paint, most_triangles=400)
    count = sum(len(piece.faces) for piece in surface.pieces)
    assert 200 < count <= 400
    assert surface.note.startswith(f"Shown with {count} of {len(fox.mesh.faces):,} triangles")
    world = fox.skeleton.forward(fox.skeleton.rest)
    assert torch.from_numpy(surface.pose(world)).isfinite().all()


def test_all_triangles_are_shown_where_that_is_asked_for(fox):
    paint = Paint.of(fox)
    few = looks.paint_surface(fox.mesh, paint, most_triangles=400)
    full = looks.paint_surface(fox.mesh, paint, most_triangles=None)
    assert few.reduced_from == len(fox.mesh.faces)
    assert full.note == ""
    assert sum(len(piece.faces) for piece in full.pieces) >= len(fox.mesh.faces)
