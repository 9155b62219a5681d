"""Hidden classes, with the conventions of scikit-learn."""
