"""Sums by class and scores of sparse rows."""
