"""`PriorTiny`: a small video diffusion model, trained on the zoo and shipped with akd."""
