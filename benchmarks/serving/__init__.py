"""`suffice serve` under load: `python -m benchmarks.serving`."""
