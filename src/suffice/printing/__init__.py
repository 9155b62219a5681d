"""How numbers, names and small tables of results are written out: text, HTML and frames."""
