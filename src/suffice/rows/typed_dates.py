"""Columns whose type is a date or a time, as the numbers that written ones are.

Dates are days since 1970-01-01 in UTC, with a fraction for the time (one without a zone is taken
for UTC); times without a date, and durations, are hours.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DAY, HOUR = 86_400_000_000, 3_600_000_000
"""Microseconds."""
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  times without a zone are taken for UTC
"""The day that is 0."""


class TypedDates(NamedTuple):
    """What a column of dates or times is.

    clock   whether these are times without a date, or durations: hours
    timed   whether dates have a time of day
    """

    clock: bool
    timed: bool


def numbers_of_dates(series: Any) -> NDArray[np.float64]:
    """Return a column of dates or times as numbers; NaN where it is blank."""
    import narwhals as nw

    dtype = series.dtype
    if isinstance(dtype, (nw.Date, nw.Datetime)):
        return _numbers(series, series.dt.timestamp("us"), DAY)
    if isinstance(dtype, nw.Duration):
        return _numbers(series, series.dt.total_microseconds(), HOUR)
    return numbers_of_objects(series.to_list())


def _numbers(series: Any, counts: Any, unit: int) -> NDArray[np.float64]:
    """Return counts in units; NaN where the column itself is blank: counts may not be."""
    import narwhals as nw

    blank = np.asarray(series.is_null().to_numpy(), dtype=bool)
    held = counts.fill_null(0) if blank.any() else counts
    found = np.asarray(held.cast(nw.Int64()).to_numpy(), dtype=np.float64) / unit
    found[blank] = np.nan
    return found


def are_dates(kinds: set[type]) -> bool:
    """Whether all of some types of Python objects are dates, or all are times.

    >>> are_dates({date, datetime}), are_dates({time}), are_dates({date, time}), are_dates(set())
    (True, True, False, False)
    """
    return bool(kinds) and any(
        all(issubclass(kind, of) for kind in kinds) for of in (date, time, timedelta)
    )


def numbers_of_objects(cells: Sequence[object]) -> NDArray[np.float64]:
    """Return dates, or times, as numbers; what is none of them is blank.

    >>> numbers_of_objects([date(1970, 1, 2), datetime(1970, 1, 1, 6), None]).tolist()
    [1.0, 0.25, nan]
    >>> numbers_of_objects([time(1, 30), timedelta(days=1)]).tolist()
    [1.5, 24.0]
    """
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def _number(cell: object) -> float:
    if cell is None or cell != cell:  # noqa: PLR0124  NaT is blank
        return float("nan")
    if isinstance(cell, timedelta):
        return cell / timedelta(hours=1)
    if isinstance(cell, datetime):
        plain = cell if cell.tzinfo is None else cell.astimezone(UTC).replace(tzinfo=None)
        return (plain - EPOCH) / timedelta(days=1)
    if isinstance(cell, date):
        return float(cell.toordinal() - EPOCH.toordinal())
    if isinstance(cell, time):
        return cell.hour + cell.minute / 60 + (cell.second + cell.microsecond / 1e6) / 3600
    return float("nan")


def typed_dates(frame: object) -> dict[str, TypedDates]:
    """Return the columns of a frame whose type is a date or a time."""
    import narwhals as nw

    held = nw.from_native(frame, eager_only=True, pass_through=True)
    found: dict[str, TypedDates] = {}
    if not isinstance(held, nw.DataFrame) or not all(isinstance(n, str) for n in held.columns):
        return found
    for series in held.iter_columns():
        clock = isinstance(series.dtype, (nw.Time, nw.Duration))
        if not clock and not isinstance(series.dtype, (nw.Date, nw.Datetime)):
            if not isinstance(series.dtype, (nw.Object, nw.Unknown)):  # some zones are not known
                continue
            kinds = {type(cell) for cell in series.drop_nulls().to_list()}
            if not are_dates(kinds):
                continue
            clock = not all(issubclass(kind, date) for kind in kinds)
            numbers = numbers_of_objects(series.to_list())
        else:
            numbers = numbers_of_dates(series)
        there = numbers[~np.isnan(numbers)]
        found[series.name] = TypedDates(clock, clock or bool((there != np.floor(there)).any()))
    return found
