"""Documents to terms and bytes, their counts, and models of them."""
