"""Tables of DuckDB, PostgreSQL and Ibis as sources."""
