"""What a rule that learns row by row knows about its rows besides θ: labels, columns, weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import DifferentKinds, NotFinite
from suffice.models.linear.form import LinearForm
from suffice.models.linear.standardisation import SMALLEST_DEVIATION, Standardisation
from suffice.places import ColumnAt
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.sparse_rows import SparseRows
from suffice.statistics.labels import ordered
from suffice.statistics.moments.centres import relative_rounding
from suffice.statistics.moments.diagonal import DiagonalMoments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label


TINY = float(np.finfo(np.float64).tiny)
"""The smallest normal double: what is divided by it stays finite where no row has a weight."""


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Labels with their weights, and the moments of the columns: they merge by `+`.

    Sparse rows are not centred, for that would fill them, and each column is divided by the root
    mean square of its cells that are not zero. The deviation from the mean would do as well for
    common words; a word in one of a hundred thousand rows it would make three hundred times as
    large as the others, and such words would outvote the rest.

    labels    in their order
    weights   (k,) of the classes
    moments   of the columns; where rows are sparse, of the cells that are not zero
    size      how many rows there were
    sparse    whether the moments are those of sparse rows

    >>> one = SeenRows.of(np.array([[1.0], [3.0]]), np.array([0, 0]), ("b",))
    >>> both = one + SeenRows.of(np.array([[5.0], [7.0]]), np.array([0, 0]), ("a",))
    >>> both.labels, both.scale.origin
    (('a', 'b'), array([4.]))
    """

    labels: tuple[Label, ...]
    weights: FloatArray
    moments: DiagonalMoments
    size: int
    sparse: bool = False

    @classmethod
    def none(cls, width: int) -> Self:
        """No rows at all: the identity of `+`."""
        return cls((), np.zeros(0), DiagonalMoments.empty(width), 0)

    @classmethod
    def of(
        cls,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        labels: tuple[Label, ...],
        weights: FloatArray | None = None,
    ) -> Self:
        """Summarize one batch, row i of labels[codes[i]]; cells that are not finite are refused."""
        if isinstance(rows, SparseRows):
            moments = _stored_moments(rows, weights)
        else:
            moments = _dense_moments(rows, weights)
        totals = np.bincount(codes, weights, minlength=len(labels)).astype(np.float64)
        size = len(rows) if weights is None else int(np.count_nonzero(weights))
        order = ordered(labels)
        places = [labels.index(label) for label in order]
        return cls(order, totals[places], moments, size, isinstance(rows, SparseRows))

    def __add__(self, other: Self) -> Self:
        """Return what is known of both."""
        sparse = self.sparse if self.size else other.sparse
        if self.size and other.size and self.sparse != other.sparse:
            raise DifferentKinds(
                "sparse and dense rows cannot be scaled together",
                hint="turn the rows into what came first: SeenRows.alike(rows)",
            )
        labels = ordered({*self.labels, *other.labels})
        weights = np.zeros(len(labels))
        for part in (self, other):
            weights[[labels.index(label) for label in part.labels]] += part.weights
        moments = self.moments + other.moments
        if not np.isfinite(moments.scatter).all():  # two constants, too far from each other
            raise NotFinite.of_range(map(ColumnAt, _not_finite(moments.scatter)))
        return type(self)(labels, weights, moments, self.size + other.size, sparse)

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return what is known of the same rows with more columns, which were all zero."""
        if self.sparse:
            raise DifferentKinds("sparse rows have no levels", hint="learn from dense rows")
        moments = self.moments.embedded(places, width)
        return type(self)(self.labels, self.weights, moments, self.size)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return self.moments.weight

    @property
    def mean_weight(self) -> float:
        """The weight of a row, on average."""
        return self.weight / self.size if self.size else 1.0

    @cached_property
    def scale(self) -> Standardisation:
        """How columns are standardised: z = (x - origin)·inverse."""
        moments, counts = self.moments, np.maximum(self.moments.counts, TINY)
        variances = moments.scatter / counts
        inverse = np.zeros(moments.width)
        if self.sparse:
            roots = np.sqrt(variances + np.square(moments.mean))
            np.divide(1.0, roots, out=inverse, where=roots > 0.0)
            return Standardisation(np.zeros(moments.width), inverse)
        deviations = np.sqrt(variances)
        varies = deviations > SMALLEST_DEVIATION * np.abs(moments.mean)
        np.divide(1.0, deviations, out=inverse, where=varies)
        return Standardisation(moments.mean, inverse)

    @cached_property
    def mean_square(self) -> float:
        """The mean of ‖(1, z)‖²: one for each column that varies, or for each cell not zero."""
        varies = self.scale.varies
        if not self.sparse:
            return 1.0 + float(np.count_nonzero(varies))
        return 1.0 + float(self.moments.counts[varies].sum()) / max(
            self.weight, np.finfo(float).tiny
        )

    @property
    def variances(self) -> FloatArray:
        """The variance of every z over all rows: 1, but for sparse rows."""
        varies = self.scale.varies
        if not self.sparse:
            return varies.astype(np.float64)
        share = self.moments.counts / max(self.weight, TINY)
        means = share * self.moments.mean * self.scale.inverse
        return np.where(varies, np.maximum(share - np.square(means), 0.0), 0.0)

    def positions(self, labels: tuple[Label, ...], codes: IntArray) -> IntArray:
        """Return codes into some labels as codes into all that are known."""
        if labels == self.labels:
            return codes
        known = {label: place for place, label in enumerate(self.labels)}
        found: IntArray = np.array([known[label] for label in labels], dtype=np.intp)[codes]
        return found

    def alike(self, rows: FloatArray | SparseRows) -> FloatArray | SparseRows:
        """Return rows as those that came first: sparse ones filled, or dense ones without zeros."""
        if isinstance(rows, SparseRows) == self.sparse or not self.size:
            return rows
        if isinstance(rows, SparseRows):
            return rows.toarray()
        numbers, columns = np.nonzero(rows)
        indptr = np.searchsorted(numbers, np.arange(len(rows) + 1))
        return SparseRows(rows[numbers, columns], columns, indptr, rows.shape[1])


def _dense_moments(rows: FloatArray, weights: FloatArray | None) -> DiagonalMoments:
    def summarize(some: slice) -> DiagonalMoments:
        return DiagonalMoments.of(rows[some], None if weights is None else weights[some])

    try:
        found = collect_blocks(summarize, *rows.shape)
    except NotFinite:
        _refuse(rows, weights)
        raise
    if (found.counts != found.weight).any():  # a missing cell, or rounding
        _refuse(rows, weights)
    return found


def refuse_spoiled(
    theta: FloatArray, rows: FloatArray | SparseRows, weights: FloatArray | None
) -> None:
    """Refuse what made θ useless: a cell missing in a row of hardly any weight, or a column."""
    if not np.isfinite(theta).all():
        _refuse(rows, weights)
        far = _not_finite(theta[:, 1:].sum(axis=0)) or range(theta.shape[1] - 1)
        raise NotFinite.of_range(map(ColumnAt, far))


def _refuse(rows: FloatArray | SparseRows, weights: FloatArray | None) -> None:
    """Refuse the first cell that is not finite; a row of weight 0 is not looked at."""
    if weights is not None and not isinstance(rows, SparseRows):
        rows = np.where(weights[:, np.newaxis] > 0.0, rows, 0.0)
    refuse_blanks_of(rows)


def _not_finite(values: FloatArray) -> list[int]:
    return np.flatnonzero(~np.isfinite(values)).tolist()


def _stored_moments(rows: SparseRows, weights: FloatArray | None) -> DiagonalMoments:
    """Summarize the cells that are not zero: all others count as not there."""
    cells, places = rows.cells.astype(np.float64), rows.places
    numbers = rows.row_numbers()
    own = np.ones(len(cells)) if weights is None else weights[numbers]
    kept = (cells != 0.0) & (own > 0.0)
    if not kept.all():
        cells, places, own = cells[kept], places[kept], own[kept]
    width = rows.width
    with np.errstate(over="ignore", invalid="ignore"):
        counts = _sums(places, own, width)
        held = np.where(counts > 0.0, counts, 1.0)
        mean = _sums(places, own * cells, width) / held
        scatter = _sums(places, own * np.square(cells - mean[places]), width)
    if not np.isfinite(scatter).all():
        refuse_blanks_of(rows)
        raise NotFinite.of_range(map(ColumnAt, _not_finite(scatter)))
    weight = float(len(rows) if weights is None else weights.sum())
    error = relative_rounding(_sums(places, np.ones(len(places)), width)) * scatter
    return DiagonalMoments(weight, counts, mean, np.zeros(width), scatter, error)


def _sums(places: NDArray[np.integer], values: FloatArray, width: int) -> FloatArray:
    return np.bincount(places, values, minlength=width).astype(np.float64, copy=False)


def rows_of_theta(size: int) -> int:
    """Return how many rows θ has for so many classes: two classes need one.

    >>> [rows_of_theta(size) for size in (0, 1, 2, 3)]
    [1, 1, 1, 3]
    """
    return size if size > 2 else 1


def every_class(theta: FloatArray, size: int) -> FloatArray:
    """Return one row of θ for each class (size, d + 1), which add up to zero."""
    if size == 2:
        return np.concatenate((-0.5 * theta, 0.5 * theta))
    return theta if size > 2 else np.zeros((size, theta.shape[1]))


def with_labels(
    every: FloatArray, known: tuple[Label, ...], labels: tuple[Label, ...]
) -> FloatArray:
    """Return rows of θ in the order of more labels; those of new ones are zero."""
    found = np.zeros((len(labels), every.shape[1]))
    found[[labels.index(label) for label in known]] = every
    return found


def rescaled(theta: FloatArray, before: Standardisation, now: Standardisation) -> FloatArray:
    """Return θ for columns standardised anew: the same score for every row.

    With w_j = θ_j·inverse_j, the weight in the user's units, θ_j becomes w_j / inverse'_j, and
    the intercept moves by Σ w_j (origin'_j - origin_j). A column that has not varied so far has
    had no θ_j.
    """
    weights = theta[:, 1:] * before.inverse
    found = np.empty_like(theta)
    found[:, 0] = theta[:, 0] + weights @ (now.origin - before.origin)
    found[:, 1:] = weights * np.divide(
        1.0, now.inverse, out=np.zeros(len(now.inverse)), where=now.inverse > 0.0
    )
    return found


def embedded_theta(theta: FloatArray, places: IntArray, width: int) -> FloatArray:
    """Return θ for rows with more columns, which have all been zero so far."""
    found = np.zeros((len(theta), width + 1))
    found[:, 0] = theta[:, 0]
    found[:, 1 + places] = theta[:, 1:]
    return found


def linear_form(theta: FloatArray, labels: tuple[Label, ...], scale: Standardisation) -> LinearForm:
    """Return the classifier in the user's units; of two classes the first scores 0."""
    every = with_labels(theta, labels[1:], labels) if len(labels) == 2 else theta[: len(labels)]
    return LinearForm(labels, every[:, 1:] * scale.inverse, every[:, 0], scale.origin)
