"""What the columns of a table are: how their cells are written, and what somebody says they are."""
