"""scikit-learn clothing over the learners: what `from suffice import ...` gives."""
