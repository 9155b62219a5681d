"""The penalty of logistic regression, found from the rows: a path of penalties, each judged."""
