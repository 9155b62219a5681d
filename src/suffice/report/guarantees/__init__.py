"""What a page says about guarantees: sets that hold the true class, and labels that are wrong."""
