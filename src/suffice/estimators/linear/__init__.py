"""Linear classifiers in scikit-learn's clothing: logistic regression and the perceptron."""
