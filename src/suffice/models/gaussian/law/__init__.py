"""The multivariate normal law by itself: density, shape, p-values, fit."""
