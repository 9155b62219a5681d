"""Rows on their way through commands: to learn from, and to be asked about."""
