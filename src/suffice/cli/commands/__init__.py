"""One command a file: parse, call the library, print."""
