"""A linear classifier: where Bayes' rule and optimization meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.kernels.sparse import score_table, sparse_scores
from suffice.linear_algebra import normalized
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A classifier that scores class c by weights[c]·(x - origin) + offsets[c].

    GDA with a shared covariance arrives here by Bayes' rule, softmax regression by
    optimization: two ways of choosing the same numbers. The origin keeps the digits of
    columns far from zero; `intercepts` are what is left of it at x = 0.

    >>> import numpy as np
    >>> form = LinearForm(("no", "yes"), np.array([[0.0], [2.0]]), np.zeros(2), np.array([1.0]))
    >>> form.against("no").intercepts
    array([ 0., -2.])
    """

    labels: tuple[Label, ...]
    weights: FloatArray
    offsets: FloatArray
    origin: FloatArray

    @property
    def intercepts(self) -> FloatArray:
        """The scores at x = 0."""
        return self.offsets - self.weights @ self.origin

    def scores(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return one score per row and class."""
        if isinstance(rows, SparseRows):
            out = np.empty((len(rows), len(self.labels)))
            table = score_table(self.weights)
            sparse_scores(rows, table, self.intercepts, None, out)
            return out
        return (rows - self.origin) @ self.weights.T + self.offsets

    def log_posterior(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return log p(y | x), normalized over classes."""
        return normalized(self.scores(rows))

    def codes(self, rows: FloatArray | SparseRows) -> IntArray:
        """Return the position of the likeliest class of each row."""
        found: IntArray = self.scores(rows).argmax(axis=1)
        return found

    def against(self, reference: Label) -> LinearForm:
        """Subtract one class's scores from all: same posterior, comparable weights."""
        if reference not in self.labels:
            raise BadSetting(
                f"there is no class {reference!r} to refer to",
                hint=f"the classes are {listed(self.labels)}",
            )
        c = self.labels.index(reference)
        return LinearForm(
            self.labels,
            self.weights - self.weights[c],
            self.offsets - self.offsets[c],
            self.origin,
        )
