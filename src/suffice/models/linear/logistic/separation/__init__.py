"""Whether a plane parts the classes, by which columns: no maximum exists then."""
