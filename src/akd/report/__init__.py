"""HTML pages: run reports, comparisons and charts."""
