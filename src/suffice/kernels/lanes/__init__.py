"""What loops in numba share: vectors of sums, exponentials, prefetching, contiguous rows."""
