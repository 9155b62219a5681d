"""What all estimators have in common: learning, answers, saving, rows."""
