"""Logistic and softmax regression: loss, search, proof, standard errors."""
