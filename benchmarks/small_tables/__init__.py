"""The tournament on small tables: `python -m benchmarks.small_tables`."""
