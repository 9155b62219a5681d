"""Columns of texts among other columns."""
