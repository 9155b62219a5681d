"""Logistic regression whose penalty the rows have chosen, or averaged over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.form import LinearForm
from suffice.models.linear.penalty_path.walk import FEWEST_OF_CLASS, walked
from suffice.rows.row_hashes import content_hashes

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.sparse_rows import SparseRows

    Fit = Callable[[float, LinearForm], LogisticFit]

MOST_JUDGED = 2048
"""Rows that a path is judged by: of more, those of smallest hash. A penalty is the precision of a
prior, and stays what it is when there are more rows; the more there are, the less it matters."""
LEAST_SHARE = 1e-4
"""The share in an average below which a penalty is left out: it moves no probability by more."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenPath:
    """A path, and the form that each of its penalties has found on the rows it was judged by."""

    path: PenaltyPath
    forms: tuple[LinearForm, ...]

    def chosen(self, fit: Fit) -> LogisticFit:
        """Return the fit of the penalty of least loss; `fit` begins at what the path has found."""
        return fit(self.path.penalty, self.forms[self.path.chosen])

    def averaged(self, fit: Fit) -> tuple[AveragedForm, LogisticFit]:
        """Return the average over the path, and the fit of the penalty of least loss in it."""
        path = self.path
        kept = np.flatnonzero(path.shares >= LEAST_SHARE)
        fits = {g: fit(float(path.penalties[g]), self.forms[g]) for g in kept.tolist()}
        shares = path.shares[kept] / path.shares[kept].sum()
        members = tuple(found.form for found in fits.values())
        best = fits[path.chosen]
        return AveragedForm(best.labels, shares, members), best


def chosen_path(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    *,
    intercept: bool = True,
    size: int | None = None,
) -> ChosenPath:
    """Return the path of rows, or of some of them; `size` is how many there are in all.

    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(60) % 2
    >>> rows = rng.normal(size=(60, 2)) + codes[:, np.newaxis]
    >>> found = chosen_path(rows, codes, ("no", "yes"))
    >>> found.path.rows, len(found.forms) == len(found.path.penalties)
    (60, True)
    """
    many = len(codes) if size is None else size
    some = some_rows(rows, codes)
    if some is not None:
        rows, codes = rows[some], codes[some]
        weights = None if weights is None else weights[some]
    present, own = np.unique(codes, return_inverse=True)
    factor = 0
    if weights is not None:  # tolerances depend on how heavy rows are: a path does not
        factor = int(np.frexp(weights.max())[1]) - 1
        weights = np.ldexp(weights, -factor)
    walk = walked(rows, own.astype(np.intp), len(present), weights, intercept)
    path = replace(
        walk.path,
        penalties=np.ldexp(walk.path.penalties, factor),
        sampled=None if many == len(codes) else many,
    )
    known = tuple(labels[c] for c in present)
    forms = (_form(theta, known, walk.origin, walk.inverse) for theta in walk.thetas)
    return ChosenPath(path, tuple(forms))


def some_rows(rows: FloatArray | SparseRows, codes: IntArray) -> IntArray | None:
    """Return which rows a path is judged by, in their order: all of them is None.

    A few rows of every class are among them.

    >>> some_rows(np.zeros((3, 1)), np.array([0, 1, 0])) is None
    True
    """
    if len(codes) <= MOST_JUDGED:
        return None
    hashes = content_hashes(rows, range(rows.shape[1]))
    order = np.lexsort((hashes, codes))
    starts = np.searchsorted(codes[order], codes[order])  # where the class of each begins
    first = order[np.arange(len(order)) - starts < FEWEST_OF_CLASS]
    smallest = np.argpartition(hashes, MOST_JUDGED - 1)[:MOST_JUDGED]
    return np.union1d(smallest, first)


def _form(
    theta: FloatArray, labels: tuple[Label, ...], origin: FloatArray, inverse: FloatArray
) -> LinearForm:
    """Return θ of standardised columns as a form in the user's units."""
    weights, offsets = np.zeros((len(labels), len(origin))), np.zeros(len(labels))
    weights[1:], offsets[1:] = theta[:, 1:] * inverse, theta[:, 0]
    return LinearForm(labels, weights, offsets, origin)
