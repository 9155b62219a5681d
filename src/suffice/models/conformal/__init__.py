"""Conformal p-values: how a row ranks among others that had the same chances."""
