"""Streams of labelled rows: stepwise EM for classes that are mixtures."""
