"""Many small models of the same rows, and one answer: half their sum, half their product."""
