"""Linear classifiers: one form for whatever has weights and intercepts, and how it is found."""
