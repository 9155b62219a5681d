"""The mail filter: counts in an SQLite file that learn, forget, and give verdicts."""
