"""The commands of the mail filter."""
