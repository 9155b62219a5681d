"""Independent columns given the class: one family a column, combined by Bayes' rule."""
