"""Where the rows are: engines call `summarize` on parts of them and merge what comes back."""

from suffice.engines.parts import collect

__all__ = ["collect"]
