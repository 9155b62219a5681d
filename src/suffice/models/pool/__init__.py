"""Many small models of the same rows, and one answer: their sum and, in part, their product."""
