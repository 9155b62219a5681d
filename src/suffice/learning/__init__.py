"""Learners and what they have learned: the whole library without scikit-learn."""
