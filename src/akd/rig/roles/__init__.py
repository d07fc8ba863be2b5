"""Joint roles: which limb, side and part of the body each joint belongs to."""
