"""What a report needs to come alive: values of its pictures, thresholds, rows to draw, a script."""
