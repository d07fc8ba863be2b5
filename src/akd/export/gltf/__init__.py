"""Writing glTF: clips added to the user's file, and new files."""
