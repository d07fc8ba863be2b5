"""Video encoders of large models, with fast, memory-saving gradients."""
