"""Normal classes: what suffices, what it becomes, and what is asked of it."""
