"""What is wrong with a table besides labels: equal rows, rows in two parts, columns that leak."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from suffice.errors import SufficeError
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.monitoring.judges import coded_rows
from suffice.rows import CATEGORY, NUMBER, is_sparse, read_table
from suffice.rows.category_codes import coded_columns
from suffice.rows.row_hashes import content_hashes, joined_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import IntArray, Table

NEAR = 0.01
"""How far apart, in standard deviations of a column, cells of near-duplicates may be."""
MOST_COMPARED = 50_000
"""Rows whose neighbours are looked for: of more, only equal rows are found."""
TELLING = 0.98
"""The share of rows that a column has to tell rightly by itself to be called a leak."""
AHEAD = 0.5
"""And the share of errors of the next best column that it may make at most."""
CHANGES = 4
"""How often the likeliest of k classes may change along a column of numbers, for each of them:
densities of two normal classes cross twice, so that of k one is the highest in 2k - 1 places at
most, and as many again for rows that are left out."""
FEWEST = 5
"""Rows of a class from which on a column may be said to tell it alone: with fewer, nearly every row
left out takes its class's law with it."""
MOST_LOOKED_AT = 20_000
"""Rows by which columns are looked at: more say the same."""
MOST_LEVELS_OF_NAMES = 0.95
"""The share of rows with a text of their own from which on a column names rows."""


class Conflict(NamedTuple):
    """Rows that say the same, and have different labels."""

    rows: tuple[int, ...]
    labels: tuple[Any, ...]


class NearDuplicate(NamedTuple):
    """Two rows that all but say the same, in different parts of a split."""

    row: int
    other: int
    equal: bool


class Leak(NamedTuple):
    """A column that names rows, or tells the label alone."""

    column: str
    why: str


def equal_rows(X: Any) -> IntArray:
    """Return a number for every row that equal rows share (n,)."""
    if is_sparse(X):
        whole = X.tocsr()
        whole.sort_indices()
        texts = [
            (whole.indices[a:b].tobytes(), whole.data[a:b].tobytes())
            for a, b in zip(whole.indptr[:-1], whole.indptr[1:], strict=True)
        ]
        places: dict[object, int] = {}
        return np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.intp)
    table = read_table(X)
    numbers = [j for j, kind in enumerate(table.kinds) if kind == NUMBER]
    others = [j for j in range(table.width) if j not in set(numbers)]
    parts = []
    if numbers:
        cells = np.column_stack([np.asarray(table.column(j), np.float64) for j in numbers]) + 0.0
        parts.append(content_hashes(cells, numbers))
    if others:
        parts.append(content_hashes(coded_columns(table, others), others))
    hashes = joined_hashes(parts)
    return np.asarray(np.unique(hashes, return_inverse=True)[1], dtype=np.intp)


def conflicts(same: IntArray, labels: NDArray[np.generic]) -> list[Conflict]:
    """Return groups of equal rows that have more than one label, the largest first."""
    several = np.flatnonzero(np.bincount(same)[same] > 1)
    found = []
    for rows in _groups(several[np.argsort(same[several], kind="stable")], same):
        told = [labels[i] for i in rows.tolist()]
        if len(set(told)) > 1:
            found.append(Conflict(tuple(rows.tolist()), tuple(told)))
    return sorted(found, key=lambda each: (-len(each.rows), each.rows))


def _groups(order: IntArray, same: IntArray) -> list[IntArray]:
    """Return rows in this order, cut where their number in `same` changes."""
    return np.split(order, np.flatnonzero(np.diff(same[order])) + 1) if len(order) else []


def near_duplicates(X: object, same: IntArray, parts: NDArray[np.generic]) -> list[NearDuplicate]:
    """Return pairs of rows that all but say the same and stand in different parts."""
    found: dict[tuple[int, int], bool] = {}
    codes = np.unique(parts, return_inverse=True)[1]
    order = np.argsort(same, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(same[order])) + 1):
        if len(rows) > 1 and len(set(codes[rows].tolist())) > 1:
            first = int(rows[0])
            other = next(int(i) for i in rows if codes[i] != codes[first])
            found[first, other] = True
    if len(same) <= MOST_COMPARED and not is_sparse(X):
        cells = coded_rows(X)
        if cells.shape[1]:
            for i, j in cKDTree(cells).query_pairs(NEAR, p=np.inf, output_type="ndarray").tolist():
                if codes[i] != codes[j] and same[i] != same[j]:
                    found.setdefault((min(i, j), max(i, j)), False)
    return [NearDuplicate(i, j, equal) for (i, j), equal in sorted(found.items())]


def without_names(X: object) -> Any:
    """Return rows without the columns that name them: these tell nothing about new rows."""
    if is_sparse(X):
        return X
    table = read_table(X)
    kept = [j for j in range(table.width) if not _names_rows(table, j)]
    return X if len(kept) == table.width or not kept else table.take(kept)


def leaks(X: object, codes: IntArray, size: int) -> list[Leak]:
    """Return columns that name rows, and those that tell the label alone."""
    if is_sparse(X):
        return []
    table = read_table(X)
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    found = []
    step = max(1, -(-table.size // MOST_LOOKED_AT))
    some = np.arange(0, table.size, step)
    few, labels = table.rows(some), codes[some]
    asked = []
    for j in range(table.width):
        if _names_rows(few, j):
            found.append(Leak(names[j], "every row has a different text: an ID?"))
        else:
            asked.append(j)
    held = np.flatnonzero(np.bincount(labels, minlength=size)[labels] >= FEWEST)
    few, labels = few.rows(held), np.unique(labels[held], return_inverse=True)[1]
    size = int(labels.max(initial=-1)) + 1
    right = {}
    # The next best column only matters where one may tell enough.
    if size > 1 and any(_may_tell(few.column(j), labels, size) for j in asked):
        told = {j: _alone(few, j, labels, size) for j in asked}
        right = {j: share for j, share in told.items() if share is not None}
    usual = np.bincount(labels, minlength=1).max() / max(1, len(labels))
    for j, share in right.items():
        others = max((right[i] for i in right if i != j), default=usual)
        if share >= TELLING and usual < share and 1.0 - share <= AHEAD * (1.0 - others):
            why = (
                f"on its own it predicts {share:.1%} of the labels; the next best column "
                f"{others:.1%}"
            )
            found.append(Leak(names[j], why))
    return found


def _names_rows(table: Table, j: int) -> bool:
    if table.kinds[j] != CATEGORY:
        return False
    cells = [cell for cell in table.column(j).tolist() if cell is not None]
    return len(cells) > 20 and len(set(cells)) > MOST_LEVELS_OF_NAMES * len(cells)


def _may_tell(cells: NDArray[np.generic], codes: IntArray, size: int) -> bool:
    """Whether a column might tell enough labels alone: a bound, and no fit.

    Whatever a model says of a value it says of all rows with it, so that all but the most frequent
    class of each value are errors. On a line models change their mind a few times only: of the
    places where the most frequent class changes more often, half are errors.
    """
    number = cells.dtype.kind in "fiu"
    if number and np.isnan(cells).any():
        return True
    texts = cells if number else np.array([str(cell) for cell in cells.tolist()], dtype=object)
    values, places = np.unique(texts, return_inverse=True)
    counts = np.zeros((len(values), size), dtype=np.intp)
    np.add.at(counts, (places, codes), 1)
    most = counts.max(axis=1)
    errors = float(len(codes) - most.sum())
    if number:
        clear = counts[(counts == most[:, np.newaxis]).sum(axis=1) == 1].argmax(axis=1)
        changes = np.count_nonzero(np.diff(clear))
        errors += max(0.0, 0.5 * (changes - CHANGES * size))
    return errors <= (1.0 - TELLING) * len(codes)


def _alone(table: Table, j: int, codes: IntArray, size: int) -> float | None:
    """Return the share of labels that one column tells rightly, its blanks included."""
    column = table.take([j])
    blank = np.array([cell is None or cell != cell for cell in column.column(0).tolist()])  # noqa: PLR0124
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            judged = NaiveBayes().fit(column, codes).leave_one_out(column, codes)
            found.append(1.0 - judged.error)
        except SufficeError:
            pass
    if blank.any() and not blank.all():
        counts = np.zeros((2, size))
        np.add.at(counts, (blank.astype(int), codes), 1.0)
        found.append(float(counts.max(axis=1).sum()) / len(codes))
    return max(found) if found else None
