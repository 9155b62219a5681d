"""How typical a row is of each class: p-values for normal, counted and mixed columns."""
