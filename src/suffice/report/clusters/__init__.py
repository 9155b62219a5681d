"""The page about clusters."""
