"""Hidden classes over columns of every kind: naive Bayes whose labels nobody has seen."""
