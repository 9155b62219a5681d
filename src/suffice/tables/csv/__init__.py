"""CSV and its relatives: dialect, quotes, lines, cells."""
