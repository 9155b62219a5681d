"""The few hot loops, by subject: numba where NumPy is slow, each with a twin that says the same."""
