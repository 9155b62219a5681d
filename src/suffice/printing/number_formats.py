"""How a table prints its numbers: each format is a callable, value → text, that can be pickled."""

from __future__ import annotations

import math
from dataclasses import dataclass

SMALLEST, LARGEST = 1e-4, 1e7
"""Beyond these a number is printed with an exponent: the zeros would hide it."""


@dataclass(frozen=True, slots=True)
class Significant:
    """So many significant digits, trailing zeros kept: they say how much is known.

    >>> [Significant(4)(x) for x in (-9.7730, 0.1, 12345.6, 1.23456e-7, float("inf"))]
    ['-9.773', '0.1000', '12346', '1.235e-07', 'inf']
    """

    digits: int = 4

    def __call__(self, value: float) -> str:
        """Return the number as text."""
        if value == 0.0 or not math.isfinite(value):
            return f"{abs(value) if value == 0.0 else value:g}"
        # Rounded first, so that 9.99996 is 10.00 and not 10.000.
        shown = f"{value:.{self.digits - 1}e}"
        rounded, power = float(shown), int(shown.partition("e")[2])
        if not SMALLEST <= abs(rounded) < LARGEST:
            return shown
        return f"{rounded if power < self.digits else value:.{max(0, self.digits - 1 - power)}f}"


@dataclass(frozen=True, slots=True)
class Decimals:
    """So many digits after the point, for numbers of one scale; large ones get their commas.

    >>> Decimals(2)(3.14159), Decimals(0)(1234567), Decimals(2)(-0.001)
    ('3.14', '1,234,567', '0.00')
    """

    digits: int = 3

    def __call__(self, value: float) -> str:
        """Return the number as text."""
        if not math.isfinite(value) or abs(value) >= 1e15:
            return f"{value:.4g}"
        text = f"{value:,.{self.digits}f}"
        return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def p_value(value: float) -> str:
    """Return a p-value as text: four decimals while they say something, then the magnitude.

    >>> p_value(0.04951), p_value(2.345e-6), p_value(0.0)
    ('0.0495', '2.3e-06', '<1e-99')
    """
    if value < 1e-99:
        return "<1e-99"
    return f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"
