"""The step of EM where cells are levels."""
