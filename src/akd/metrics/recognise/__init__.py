"""Action recognisers for small videos: A guides the search, B only reports."""
