"""Classifiers and vectorizers of texts in scikit-learn's clothing."""
