"""What each joint is to the body: limbs, sides, trunk, and the evidence for it."""
