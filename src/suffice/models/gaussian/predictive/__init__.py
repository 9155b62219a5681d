"""Normal classes whose parameters are averaged over instead of plugged in: Student's t."""
