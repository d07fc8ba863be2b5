"""Writing motions: glTF, BVH, USD, FBX and MJCF."""
