"""Sets of classes that hold the true one with a stated probability, for every classifier."""
