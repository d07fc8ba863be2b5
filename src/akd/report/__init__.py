"""Pages for people: the report of a run, comparisons, charts."""
