"""JSON: one object a line, arrays of objects, objects inside of objects."""
