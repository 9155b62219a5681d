"""Mail as it arrives: messages to the words that a filter learns from."""
