"""Answers that hold with a stated probability: unions of training rows and asked ones, and sets."""
