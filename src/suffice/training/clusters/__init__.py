"""From a table to clusters: which columns, which rows, and what is said about what was found."""
