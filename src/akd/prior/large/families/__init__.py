"""Model families: latent layouts, sizes and network inputs of each."""
