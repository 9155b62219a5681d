"""Rows without a label that are learned from: of the same table, and of another."""
