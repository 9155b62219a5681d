"""What people see and programs read: messages, options, printed rows, places to write to."""
