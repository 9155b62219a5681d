"""What was learned while serving: a log of rows, snapshots, and the thread that writes."""
