"""Rows that a model keeps so that new ones can be ranked among them: how many, at most."""

from __future__ import annotations

from numbers import Real
from typing import Any

from suffice.errors import BadSetting
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
            hint=f"a whole number from 1 to {MOST:,}, or None to keep none",
        )


def within_sample(statistics: object, most: int | None, judged: object) -> Any:
    """Return statistics with no more sampled rows than asked for, unless others judge by them."""
    if most is None or judged or not isinstance(statistics, WithRows):
        return statistics
    return WithRows(statistics.held, statistics.sample.cut(int(most)))
