"""`PriorTiny`: a small video diffusion model, trained on the zoo, that ships with the package."""
