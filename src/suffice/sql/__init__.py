"""Databases as calculators: sums for learners, and models as one SELECT."""
