"""Many small models of the same rows, and one answer: the linear pool."""
