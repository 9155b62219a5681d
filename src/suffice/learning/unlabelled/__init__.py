"""Rows without a label: what a learner is told to do with them, and what became of them."""
