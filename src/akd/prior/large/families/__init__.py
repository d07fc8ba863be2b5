"""What is particular to each family of video models: layouts, sizes, what the network is given."""
