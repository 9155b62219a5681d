"""Rows that a table could have held: bounds, whole numbers and known categories are kept."""
