"""Recognisers of actions in small videos: A may steer, B only reports."""
