"""Coverage-guided fuzzing of every parser of user files; see docs/security.md."""
