"""One family of column laws a file: what it counts, and what the counts become."""
