"""N-grams of bytes: made, counted, found again, and what documents score by them."""
