"""Which whole numbers are codes: those whose order tells nothing about the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import listed
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from suffice.rows.cells import FloatArray
    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks
    from suffice.training.table_columns.left_out_losses import JudgedRows

FEWEST, MOST = 4, 64
"""Values of a column that may be one of codes. Three lie on a parabola whatever they are."""
ERRORS = 3.0
"""Standard errors by which the values themselves have to tell more than any smooth law does."""
ORDERS = 400
"""Orders of the values, drawn at random, with which their own is compared."""
SMOOTH = 0.1
"""The share of orders by which classes change as little as by the values' own, up to which these
are taken for a quantity. Of codes, by definition, a tenth have such an order by chance."""
LEAST_CODES = 3
"""Codes of a table from which on columns of four values may be some, too."""
SMOOTH_AMONG_CODES = 0.02
"""The same share in such a table: where most columns are codes, a smooth order is more likely one
by chance. Of codes one in fifty has it; of 72 made quantities beside codes 3 were taken for some, 2
by `SMOOTH`, and of the columns of 50 public tables none more."""
LEAST_ROWS = 30
"""Rows for each value: fewer do not tell how classes change between values."""
LEAST = 500
"""Rows below which nothing is taken for a code by itself."""


class PossibleCodes(NamedTuple):
    """A column that may be one of codes.

    values   how many different ones there are
    order    the share of orders by which classes change as little as by the values' own
    """

    name: str
    values: int
    order: float


def code_columns(
    table: Table, rows: JudgedRows, kept: Collection[str], hooks: Hooks
) -> tuple[str, ...]:
    """Return the columns of whole numbers that are codes, and say so.

    A column is one if it has from 5 to 64 values, of 30 rows each at least; if the log-loss of the
    class on rows left out is lower by its values than by class shares, than by whether it has its
    most frequent value, and than by normal laws, each by more than three standard errors; and if
    classes do not change less from each value to the next than in nine of ten random orders of
    the values, be it without the lowest. In a table where at least three columns, and half of those
    that pass the rest, are codes, 49 of 50 orders will do, and those of four values may be some,
    too.

    `kept` are columns that stay what they are.
    """
    if len(rows.codes) < LEAST or len(rows.classes) < 2:
        return ()
    looked = []
    for j, name in enumerate(table.names or ()):
        if table.kinds[j] != NUMBER or name in kept:
            continue
        numbers = np.asarray(table.column(j)[rows.kept], dtype=np.float64)
        found = _looked(name, numbers, rows)
        if found is not None:
            looked.append(found)
    codes = [one for one in looked if one.values > FEWEST and one.order > SMOOTH]
    if len(codes) >= LEAST_CODES and 2 * len(codes) >= len(looked):
        codes = [one for one in looked if one.order > SMOOTH_AMONG_CODES]
    if codes:
        names = [one.name for one in codes]
        are = "is read as categories" if len(codes) == 1 else "are read as categories"
        why = "few whole numbers, whose order is unrelated to the class"
        change = f"{hooks.column(names[0], 'number')} keeps {'it' if len(codes) == 1 else names[0]}"
        hooks.note(f"{listed(names)} {are}: {why}; {change} as numbers")
    return tuple(one.name for one in codes)


def _looked(name: str, numbers: FloatArray, rows: JudgedRows) -> PossibleCodes | None:
    """Return what is known of a column that may be one of codes; None if it is none."""
    there = ~np.isnan(numbers)
    few = numbers[there][:1000]
    if not len(few) or (few != np.floor(few)).any() or len(np.unique(few)) > MOST:
        return None
    values, places = np.unique(numbers[there], return_inverse=True)
    many = len(values)
    if not FEWEST <= many <= MOST or (values != np.floor(values)).any():
        return None
    counted = np.bincount(places)
    if len(places) < LEAST_ROWS * many:
        return None
    usual = int(counted.argmax())
    coded = np.full(len(numbers), many, dtype=np.intp)  # blanks are a value of their own
    coded[there] = places
    told = rows.by_value(coded)
    laws = (
        rows.shares,
        lambda: rows.by_value((coded == usual).astype(np.intp) + 2 * (coded == many)),
        lambda: rows.by_normal(np.where(there, numbers, values[usual])),
    )
    if any(rows.gain(law(), told).errors <= ERRORS for law in laws):
        return None
    tallies = rows.tallies(coded).sum(axis=0)[:many]
    if counted[usual] > len(places) / 2:
        tallies = np.delete(tallies, usual, axis=0)
    return PossibleCodes(name, many, min(smoothness(tallies), smoothness(tallies[1:])))


def smoothness(tallies: NDArray[np.generic]) -> float:
    """Return the share of orders of values by which classes change as little as by their own.

    `tallies` (values, classes) says how often each class came with each value. The change from one
    value to the next is the chi-square statistic of their shares, so that rare ones do not count
    for more than they show. Fewer than four values have no order: 1.

    >>> rising = np.array([[90, 10], [70, 30], [50, 50], [30, 70], [10, 90]])
    >>> smoothness(rising) < 0.05, smoothness(rising[[2, 0, 4, 1, 3]]) > 0.3
    (True, True)
    """
    size = tallies.sum(axis=1)
    held = tallies[size > 0][:, tallies.sum(axis=0) > 0].astype(np.float64)
    many = len(held)
    if many < 4:
        return 1.0
    size = held.sum(axis=1)
    shares = held / size[:, None] / np.sqrt(held.sum(axis=0) / held.sum())
    apart = ((shares[:, None] - shares[None]) ** 2).sum(axis=-1)
    apart *= size[:, None] * size / (size[:, None] + size)
    rng = np.random.default_rng(many)
    orders = np.argsort(rng.random((ORDERS, many)), axis=1)
    changes = apart[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    ours = apart[np.arange(many - 1), np.arange(1, many)].sum()
    return float((changes <= ours).mean())
