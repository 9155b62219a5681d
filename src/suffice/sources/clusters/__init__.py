"""Spark and Dask: partitions are summarized where they are."""
