"""What answers at which address: our own, and those that clients of others know."""
