"""Sums and scores of dense rows: what normal classes are estimated from and predict with."""
