"""How good models are on rows they have not seen, and which of them to use."""
