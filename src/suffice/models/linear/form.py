"""A linear classifier: where Bayes' rule and optimization meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.engines.uneven_blocks import score_rows
from suffice.errors import BadSetting, listed
from suffice.kernels.dense.scores import (
    binary_log_posterior,
    binary_posterior,
    linear_scores,
    softmax,
    winners,
)
from suffice.kernels.sparse.sums import score_table
from suffice.linear_algebra import normalized
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray, Label


SHRUNK = 600
"""Powers of two by which rows are divided where their scores would overflow: the largest double,
2^1024, becomes 2^424, and times a weight of up to 2^600 it is still a number."""


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
        """Return one score per row and class; finite for finite rows, but for overflow."""
        if isinstance(rows, SparseRows):
            return score_rows(rows, score_table(self.weights), self.intercepts)[0]
        out = np.empty((len(rows), len(self.labels)))

        def work(part: slice) -> None:
            with np.errstate(all="ignore"):
                linear_scores(rows[part], self.origin, self.weights, self.offsets, out[part])

        for_blocks(work, *rows.shape, light=True)
        return out

    def odds(self, rows: FloatArray | SparseRows, out: FloatArray | None = None) -> FloatArray:
        """Return the log odds of the second of two classes against the first (n,)."""
        found = np.empty((len(rows), 1)) if out is None else out
        weights = self.weights[1:] - self.weights[:1]
        if isinstance(rows, SparseRows):
            offsets = self.intercepts[1:] - self.intercepts[:1]
            found[:] = score_rows(rows, score_table(weights), offsets)[0]
            return found[:, 0]
        offsets = self.offsets[1:] - self.offsets[:1]

        def work(part: slice) -> None:
            with np.errstate(all="ignore"):
                linear_scores(rows[part], self.origin, weights, offsets, found[part])

        for_blocks(work, *rows.shape, light=True)
        return found[:, 0]

    def decisions(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return what scikit-learn calls decisions: one a row for two classes, else (n, k).

        Those of more than two classes add up to zero in every row; far out they are ±∞.
        """
        two = len(self.labels) == 2
        found = self.odds(rows)[:, np.newaxis] if two else self.scores(rows)
        far = self._far(rows, found)
        with np.errstate(all="ignore"):
            if not two:
                found -= found.mean(axis=1, keepdims=True)
            if far is not None:
                scores, largest = self._shrunk(rows[far])
                scores = scores[:, 1:] - scores[:, :1] if two else scores
                if not two:
                    scores -= scores.mean(axis=1, keepdims=True)
                found[far] = np.ldexp(scores * largest, SHRUNK)
        return found[:, 0] if two else found

    def posterior(self, rows: FloatArray | SparseRows, *, log: bool = False) -> FloatArray:
        """Return p(y | x), or its logarithm, normalized over classes."""
        size = len(self.labels)
        if size == 1:
            refuse_blanks_of(rows)
            return np.full((len(rows), 1), 0.0 if log else 1.0)
        if size == 2:
            out = np.empty((len(rows), 2))
            odds = self.odds(rows, out[:, 1:])
            far = self._far(rows, odds[:, np.newaxis])
            for_blocks(
                lambda part: (binary_log_posterior if log else binary_posterior)(
                    odds[part], out[part]
                ),
                len(rows),
                2,
            )
        else:
            out = self.scores(rows)
            far = self._far(rows, out)
            for_blocks(lambda part: softmax(out[part], log), *out.shape)
        if far is not None:
            found = self._from_afar(rows[far])
            out[far] = found if log else np.exp(found)
        return out

    def log_posterior(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return log p(y | x), normalized over classes."""
        return self.posterior(rows, log=True)

    def codes(self, rows: FloatArray | SparseRows) -> IntArray:
        """Return the position of the likeliest class of each row (the first, in a tie)."""
        if len(self.labels) == 1:
            refuse_blanks_of(rows)
            return np.zeros(len(rows), dtype=np.intp)
        scores = self.odds(rows)[:, np.newaxis] if len(self.labels) == 2 else self.scores(rows)
        found = np.empty(len(rows), dtype=np.intp)
        hard = np.empty(len(rows), dtype=bool)
        for_blocks(
            lambda part: winners(scores[part], found[part], hard[part]),
            *scores.shape,
            light=True,
        )
        far = self._far(rows, scores) if hard.any() else None
        if far is not None:
            found[far] = self._from_afar(rows[far]).argmax(axis=1)
        return found

    def _far(self, rows: FloatArray | SparseRows, scores: FloatArray) -> IntArray | None:
        """Return the rows whose scores left the range of a double; refuse cells that did."""
        with np.errstate(all="ignore"):
            if np.isfinite(scores.sum()) or np.isfinite(scores).all():
                return None
        refuse_blanks_of(rows)
        return np.flatnonzero(~np.isfinite(scores).all(axis=1))

    def _from_afar(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return log p(y | x) of rows whose scores overflow: offsets do not count out there."""
        scores, largest = self._shrunk(rows)
        scores -= scores.max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            return normalized(np.ldexp(scores * largest, SHRUNK))

    def _shrunk(self, rows: FloatArray | SparseRows) -> tuple[FloatArray, float]:
        """Return scores without offsets, divided by 2^SHRUNK and by the largest weight."""
        dense = rows.toarray() if isinstance(rows, SparseRows) else rows.astype(np.float64)
        largest = float(np.abs(self.weights).max(initial=0.0)) or 1.0
        near = np.ldexp(dense, -SHRUNK) - np.ldexp(self.origin, -SHRUNK)
        return near @ (self.weights / largest).T, largest

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
