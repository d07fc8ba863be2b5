"""The 3D view's data: what its camera looks at."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from akd.motion.motion import Motion
from akd.report.scene3d import scene3d


def test_the_camera_follows_the_middle_of_the_body(fox):
    """The root is where the tail begins: around it, the fore feet would be out of the picture."""
    pose = fox.control_rig.neutral.expand(12)
    away = torch.zeros(12, 1, 3)
    away[:, 0] = torch.linspace(0.0, 1.0, 12)[:, None] * fox.forward
    root = torch.tensor([p < 0 for p in fox.skeleton.parents])[None, :, None]
    moved = replace(pose, translation=pose.translation + root * away)
    motion = Motion(fox.skeleton, torch.arange(12) / 24, moved)
    text = re.search(r'json">(.*?)</script>', scene3d(fox, {"walk": motion}), re.DOTALL)
    (clip,) = json.loads(text.group(1))["clips"]
    path = np.frombuffer(base64.b64decode(clip["path"]), "<f4").reshape(-1, 3)
    points = fox.mesh.pose(motion.world())
    middles = (0.5 * (points.amin(1) + points.amax(1))).numpy()
    assert path == pytest.approx(middles, abs=0.02 * fox.height)
    roots = motion.world()[:, fox.control_rig.root, :3, 3].numpy()
    assert np.linalg.norm(middles - roots, axis=1).min() > 0.1 * fox.height
