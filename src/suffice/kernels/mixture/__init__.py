"""One step of expectation-maximization: responsibilities, and sums weighted with them."""
