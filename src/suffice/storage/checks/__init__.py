"""Whether what a file holds can be a model: forms, rules, and one answer a file."""
