"""What members say, combined: shares of a sum, exponents of a product, and some of each."""
