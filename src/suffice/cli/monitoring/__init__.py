"""Commands that ask whether labels and models can be believed."""
