"""HTTP as bytes: requests within limits, answers, refusals, tokens, counts, the socket."""
