"""How classes are told apart: colours, shapes and dashes, for pictures and for pages."""

from __future__ import annotations

# Okabe and Ito's colours stay apart for every kind of colour vision; the rest does so in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#5B4A9E", "#8C8C00")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p", "<", ">", "*")
"""Shapes of dots, by class; filled, and as different as matplotlib has them."""
DASHES: tuple[object, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 3)),
)  # fmt: skip
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++")
"""What fills bars, by class, so that they differ without colours."""
INK = "#222222"
"""Letters, axes and lines that belong to no class: nearly black."""
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


def dashes(k: int) -> object:
    """Return the line style of class k."""
    return DASHES[k % len(DASHES)]


def hatch(k: int) -> str:
    """Return the hatching of class k."""
    return HATCHES[k % len(HATCHES)]
