"""Reading files: records in the file's own units, and a list of problems."""
