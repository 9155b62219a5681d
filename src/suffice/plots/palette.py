"""How classes are told apart: by colour, and in grey by marker, dashes or hatching."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours stay apart for every kind of colour vision; the rest does so in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#5B4A9E", "#8C8C00")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p", "<", ">", "*")
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 3)),
)  # fmt: skip
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++")
INK = "#222222"
PALE = "0.45"
"""What is said of all classes at once: neither ink nor any class's colour."""

# The lengths have no common divisor, so that two classes share a colour and a marker only when
# there are more than 88 of them, and a colour and dashes beyond 40.


def colour(k: int) -> str:
    """Return the colour of class k.

    >>> colour(0), colour(8) == colour(0), marker(8) == marker(0)
    ('#0072B2', True, False)
    """
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """Return the marker of class k."""
    return MARKERS[k % len(MARKERS)]


def dashes(k: int) -> Any:
    """Return the line style of class k."""
    return DASHES[k % len(DASHES)]


def dot_size(rows: int) -> float:
    """Return the area of a dot, in square points: many rows must not become a blot.

    >>> dot_size(100), dot_size(1000), dot_size(10_000)
    (30.0, 15.0, 7.0)
    """
    return 30.0 if rows < 500 else 15.0 if rows < 3000 else 7.0


def hatch(k: int) -> str:
    """Return the hatching of class k."""
    return HATCHES[k % len(HATCHES)]
