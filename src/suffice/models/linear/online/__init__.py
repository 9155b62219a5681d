"""Rules that learn row by row: the perceptron and the stochastic gradient."""
