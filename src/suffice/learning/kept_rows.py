"""Rows that a model keeps so that new ones can be ranked among them: how many, at most."""

from __future__ import annotations

from numbers import Real

from suffice.errors import BadSetting
from suffice.learning.left_out import StatisticsLeftOut
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import MOST, WithRows


def checked_calibration_rows(given: object) -> None:
    """Refuse a number of rows that no sample can hold.

    >>> checked_calibration_rows(500)
    """
    if given is None:
        return
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or float(given) != int(float(given)) or not 1 <= float(given) <= MOST:  # type: ignore[arg-type]
        raise BadSetting(
            f"calibration_rows={given!r} is not a number of rows to keep",
            hint=f"use a whole number from 1 to {MOST:,}, or None to keep none",
        )


def within_sample(statistics: object, most: int | None, judged: object) -> object:
    """Return statistics with no more sampled rows than asked for, unless others judge by them."""
    if most is None or judged or not isinstance(statistics, WithRows):
        return statistics
    return WithRows(statistics.held, statistics.sample.cut(int(most)))


def check_collected_alike(known: object, new: object) -> None:
    """Refuse to add statistics that were collected for another setting of held-out choices."""
    if isinstance(known, StatisticsLeftOut) or isinstance(new, StatisticsLeftOut):
        return
    inner = [held.held if isinstance(held, WithRows) else held for held in (known, new)]
    for name, ours, theirs in (
        ("temperature", isinstance(known, WithRows), isinstance(new, WithRows)),
        ("smoothing", isinstance(inner[0], Folds), isinstance(inner[1], Folds)),
    ):
        if ours != theirs:
            word = '"held-out" or "left-out"' if name == "temperature" else '"held-out"'
            word += " (or calibration_rows)" if name == "temperature" else ""
            told = f"is {word} now and was not" if theirs else f"is not {word} now but was"
            raise BadSetting(
                f"{name} {told} when the rows were read: different statistics were collected",
                hint=f"set {name} as it was, or fit again",
            )
