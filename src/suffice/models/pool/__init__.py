"""Many small models of the same rows, and one answer: their sum, and up to half their product."""
