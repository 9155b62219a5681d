"""Rules that learn from one row after the other: the perceptron and stochastic gradient ascent."""
