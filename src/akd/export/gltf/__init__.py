"""glTF out: clips added to the user's own file, and files made from scratch."""
