"""Expectation-maximization on the moments of each pattern of missing cells."""
