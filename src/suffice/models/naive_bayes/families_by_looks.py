"""Which family a column looks like: a rule that can be said in one sentence each.

truths are Bernoulli; categories are categorical, and texts, several words each and nearly all
different, are known by their words; whole numbers from 0 with at most ten
values are categorical, with more Poisson if their variance within classes is half to twice their
mean; other numbers are log-normal if all are positive and that is likelier than normal; and
Gaussian in every other case.

Whole numbers are those of an integer type, or written without a fraction. Where the type has
fractions too, a few cells that happen to be whole prove nothing: then it takes many of them, or
zeros and ones alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.families.registry import NAMED
from suffice.rows.cells import BOOLEAN, CATEGORY
from suffice.rows.text_cells import looks_like_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray, IntArray, Table

AUTO, SELECT = "auto", "select"
"""Settings by which families are chosen: by looks, and by held-out rows."""
FEW_VALUES = 10
"""Different values up to which whole numbers count as categories: a choice, as many as one digit
has."""
UNDERDISPERSED, OVERDISPERSED = 0.5, 2.0
"""Variance over mean, within classes, between which counts are Poisson's, whose ratio is 1: a
choice that leaves room for chance. Years, dates, heights in centimetres are whole, too, and far
less spread than counts of their size: Poisson's law would take the year 2020 for 2020 +- 45."""
MANY_WHOLE = 100
"""Numbers of a type with fractions that have to be whole for the column to count as whole: then the
next one is a fraction in less than one of a hundred columns (the rule of succession)."""
HEAD = 256
"""Cells that are looked at first: most columns of measurements are told by them."""
SAMPLE = 100_000
"""Rows by which normal and log-normal are compared; more would say the same."""


def family_like(
    table: Table, column: int, codes: IntArray, weights: FloatArray | None
) -> ColumnFamily:
    """Return the family that a column of labelled rows looks like."""
    kind = table.kinds[column]
    if kind == BOOLEAN:
        return NAMED["bernoulli"]
    if kind == CATEGORY:
        return NAMED["words" if looks_like_texts(table.column(column)) else "categorical"]
    cells = table.column(column)
    if cells.dtype.kind == "f" and cells[:HEAD].min(initial=0.0) < 0.0:
        return NAMED["gaussian"]  # as most columns of measurements: neither counts nor positive
    if holds_counts(table, column):
        if has_few_values(table.exact(column), FEW_VALUES):
            return NAMED["categorical"]
        mean, variance = _within(cells, codes, weights)
        if UNDERDISPERSED * mean <= variance < OVERDISPERSED * mean:
            return NAMED["poisson"]
    if is_positive(cells) and _log_normal_is_likelier(cells, codes, weights):
        return NAMED["lognormal"]
    return NAMED["gaussian"]


def chosen_by_looks(asked: object, columns: Any) -> frozenset[int]:
    """Return the columns whose family nobody named: `asked` is the setting `families`.

    >>> from suffice.columns import PlainColumns
    >>> sorted(chosen_by_looks({"x1": "poisson", ("x2", 3): "gaussian"}, PlainColumns(4)))
    [0]
    """
    if isinstance(asked, str) and asked in (AUTO, SELECT):
        return frozenset(range(len(columns.columns)))
    if not isinstance(asked, Mapping):
        return frozenset()
    told = [key for key, family in asked.items() if not is_select(family)]
    keys = [part for key in told for part in (key if isinstance(key, tuple) else (key,))]
    named = {columns.names.index(key) if isinstance(key, str) else int(key) for key in keys}
    return frozenset(range(len(columns.columns))) - named


def is_select(family: object) -> bool:
    """Whether a family is to be chosen by rows that it has not seen."""
    return isinstance(family, str) and family == SELECT


def holds_counts(table: Table, column: int) -> bool:
    """Whether a column is one of whole numbers from 0 on: by its type, or by the looks of many."""
    cells = table.column(column)
    if not are_counts(cells):
        return False
    if table.is_whole(column) or (table.whole is None and bool(np.isnan(cells).any())):
        return True  # NumPy has no blank integers: those beside a blank come as doubles
    # Zero is whole in every unit: only other numbers could have been fractions. Zeros and ones
    # say yes and no, whatever their type.
    most = float(np.nanmax(cells))
    return most <= 1.0 or int((cells > 0.0).sum()) >= MANY_WHOLE


def are_counts(cells: NDArray[np.generic]) -> bool:
    """Whether all cells that are there are whole numbers of at least 0, and some are."""

    def whole(part: NDArray[Any]) -> bool:
        with np.errstate(invalid="ignore"):
            return bool(np.all(np.isnan(part) | ((part >= 0.0) & (part == np.floor(part)))))

    return whole(cells[:HEAD]) and whole(cells) and has_cells(cells) and not np.isinf(cells).any()


def is_positive(cells: NDArray[np.generic]) -> bool:
    """Whether all cells that are there are positive and finite, and some are."""

    def positive(part: NDArray[Any]) -> bool:
        with np.errstate(invalid="ignore"):
            return bool(np.all(np.isnan(part) | ((part > 0.0) & (part < np.inf))))

    return positive(cells[:HEAD]) and positive(cells) and has_cells(cells)


def has_cells(cells: NDArray[np.generic]) -> bool:
    """Whether any cell is there."""
    return not bool(np.isnan(cells).all())


def has_few_values(cells: NDArray[np.generic], most: int) -> bool:
    """Whether there are at most so many different values."""
    if cells.dtype == object:
        return len(set(cells.tolist()) - {None}) <= most
    values: NDArray[np.generic] = np.zeros(0, cells.dtype)
    for start in range(0, len(cells), 65_536):
        part = cells[start : start + 65_536]
        values = np.union1d(values, part[~np.isnan(part)])
        if len(values) > most:
            return False
    return True


def _within(
    cells: NDArray[np.generic], codes: IntArray, weights: FloatArray | None
) -> tuple[float, float]:
    """Return the mean of all cells and their variance within classes."""
    seen = ~np.isnan(cells)
    x, y = cells[seen].astype(np.float64), codes[seen]
    w = np.ones(len(x)) if weights is None else weights[seen]
    held = np.bincount(y, w)
    means = np.bincount(y, w * x) / np.where(held > 0.0, held, 1.0)
    spread = float(w @ np.square(x - means[y]))
    total = float(w.sum())
    return float(w @ x) / total, spread / total


def _log_normal_is_likelier(
    cells: NDArray[np.generic], codes: IntArray, weights: FloatArray | None
) -> bool:
    """Compare the two likelihoods, each class with its own mean and variance.

    Both are densities of the same x, so that they can be compared: per class
    -log sd(log x) - mean(log x) against -log sd(x).
    """
    step = max(1, len(cells) // SAMPLE)
    x, y = cells[::step], codes[::step]
    seen = ~np.isnan(x)
    w = np.ones(len(x)) if weights is None else weights[::step]
    x, y, w = x[seen].astype(np.float64), y[seen], w[seen]
    logs = np.log(x)
    gain = 0.0
    for c in np.unique(y):
        own = y == c
        held = w[own]
        if own.sum() < 2:
            continue
        spread, log_spread = (_deviation(values[own], held) for values in (x, logs))
        if spread > 0.0 and log_spread > 0.0:
            mean = float(np.average(logs[own], weights=held))
            gain += float(held.sum()) * (np.log(spread) - np.log(log_spread) - mean)
    return gain > 0.0


def _deviation(values: FloatArray, weights: FloatArray) -> float:
    middle = np.average(values, weights=weights)
    return float(np.sqrt(np.average(np.square(values - middle), weights=weights)))
