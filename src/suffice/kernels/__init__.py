"""The few hot loops: numba where NumPy is slow, each with a NumPy twin that says the same."""
