"""The command line: parse, call the library, print. Nothing is computed here."""

from suffice.cli.app import main

__all__ = ["main"]
