"""Numbers of a page as their columns are written: dates, percent, money, yes and no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.rows import BOOLEAN, NUMBER

if TYPE_CHECKING:
    from matplotlib.axis import Axis

    from suffice.columns.spellings.spelling import Spelling

DATES = 4
"""Dates along an axis, at most. A choice: ten characters each still stand apart."""


def in_notation(figure: float, spelling: Spelling | None) -> str:
    """Return a number in a few digits, as its column is written: a date, in percent, as money.

    >>> from suffice.columns.spellings.spelling import Spelling
    >>> in_notation(1234.5, Spelling("number", currency="€")), in_notation(0.3, None)
    ('€1234', '0.3')
    >>> in_notation(19727.0, Spelling("number", date="dmy"))
    '2024-01-05'
    """
    if spelling is None:
        return short(figure)
    if spelling.date:
        return str(spelling.written(figure if spelling.timed else round(figure)))
    if spelling.percent:
        return f"{short(100.0 * figure)} %"
    sign = "-" if figure < 0.0 and spelling.currency else ""
    return f"{sign}{spelling.currency}{short(abs(figure) if sign else figure)}"


def short(figure: float) -> str:
    """Return a number in a few digits.

    >>> short(48842.0), short(0.12345), short(1e15)
    ('48,842', '0.1235', '1e+15')
    """
    return f"{figure:,.0f}" if 1e4 <= abs(figure) < 1e12 else f"{figure:.4g}"


def write_ticks(axis: Axis, spelling: Spelling | None) -> None:
    """Write the numbers along an axis as their column is written: dates, percent, yes and no."""
    if spelling is None:
        return
    if spelling.kind == BOOLEAN:
        said = [tick.get_text() for tick in axis.get_ticklabels()]
        known = {"0": spelling.no, "1": spelling.yes}
        axis.set_ticks(axis.get_ticklocs(), [known.get(word, word) for word in said])
    elif spelling.kind == NUMBER:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        if spelling.date:
            axis.set_major_locator(MaxNLocator(DATES))
        axis.set_major_formatter(FuncFormatter(lambda at, _: in_notation(float(at), spelling)))
