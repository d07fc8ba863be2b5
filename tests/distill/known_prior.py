"""A video prior whose clean estimate is known: every latent is drawn from one Gaussian."""

import torch

from akd.prior.estimate import add_noise
from akd.prior.protocol import Condition
from akd.scene.settings import SceneStyle


class KnownPrior:
    """Videos are `mean` plus noise of deviation `spread`; words and images say nothing."""

    name = "known"
    frames, width, height, fps = 4, 16, 16, 8.0
    style = SceneStyle.ROLES
    takes_reference_image = False
    bound = None
    device = torch.device("cpu")

    def __init__(self, mean: torch.Tensor, spread: float):
        self.mean, self.spread = mean, spread

    def condition(self, prompt, *, reference_image=None):
        return Condition(torch.zeros(1, 1))

    def unconditioned(self, condition):
        return condition

    def encode(self, video):
        return video

    def decode(self, latents):
        return latents

    def signal(self, t):
        angle = 0.5 * torch.pi * t
        return angle.cos(), angle.sin()

    def add_noise(self, latents, noise, t):
        alpha, sigma = self.signal(t)
        return add_noise(latents, noise, alpha=alpha, sigma=sigma)

    def predict(self, latents, t, conditions):
        # E[z | z_t] for z ~ N(mean, spread^2): regression of z on z_t.
        alpha, sigma = (x.reshape(-1, *(1,) * (latents.dim() - 1)) for x in self.signal(t))
        gain = alpha * self.spread**2 / (alpha**2 * self.spread**2 + sigma**2)
        return self.mean + gain * (latents - alpha * self.mean)
