"""Hidden classes: mixtures of normal components, by expectation-maximization."""
