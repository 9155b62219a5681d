"""Whether data and models can still be believed: audits of labels, watches of what comes in."""
