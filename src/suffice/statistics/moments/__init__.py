"""Weight, mean and scatter in two doubles: per class, pooled or by column, and their rounding."""
