"""Groups of independent columns with one row added and each of the others taken out.

Every group says what its columns add to the log densities of all rows in the union with an asked
row; sums of them, with priors, are the scores. Nothing is estimated again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from suffice.linear_algebra import log_sum_exp
from suffice.models.conformal.added_columns import AddedColumns
from suffice.models.conformal.added_counts import AddedCounts, AddedWords
from suffice.models.conformal.added_levels import AddedLevels
from suffice.models.conformal.added_variances import AddedSharedVariances, AddedSpheres
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.categorical import Categorical
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.poisson import Poisson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.rows import FloatArray, IntArray

Asked = tuple[Any, "NDArray[np.bool_]"]
"""Asked rows as a group reads them, and which of them need more than its formula (m,)."""


NORMAL_FORMS: Mapping[str, Any] = {
    "diagonal": AddedColumns,
    "shared-diagonal": AddedSharedVariances,
    "spherical": AddedSpheres,
}
"""Forms of independent normal columns, and how their rows are made ready."""


class AddedGroup(Protocol):
    """Columns of one kind: training rows made ready, and asked ones."""

    def asked(self, block: FloatArray) -> Asked:
        """Return asked rows as they are added, and which are unsafe."""
        ...

    def added(self, row: Any, c: int) -> tuple[FloatArray, bool]:
        """Return log densities of training rows (n, k), and whether they may be believed.

        Each is left out of the union of all of them and one asked row with label c.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AddedGroups:
    """Training rows (n,) of classes `codes`, and what each group of their columns says.

    `weights` (k,) are those of the classes; `log_priors` (k,) where they are settings.
    """

    groups: tuple[AddedGroup, ...]
    codes: IntArray
    weights: FloatArray
    log_priors: FloatArray | None
    temperature: float = 1.0

    step: ClassVar[int] = 16
    """How many rows are asked about at a time: their scores are held. A choice."""

    @classmethod
    def of(
        cls, fit: NaiveBayesFit, rows: Sequence[Any], codes: IntArray, priors: FloatArray | None
    ) -> Self | None:
        """Return training rows, a block for each group, made ready; None if one has no formula."""
        model, found = fit.model, []
        if len(model.labels) < 2:
            return None
        pairs = zip(model.product.families, fit.groups, fit.alphas, rows, strict=True)
        for family, groups, alpha, block in pairs:
            group = _group(family, groups, alpha, block, codes)
            if group is None:
                return None
            found.append(group)
        return cls(tuple(found), codes, model.weights, priors, model.temperature)

    def scores(self, asked: Sequence[Any], c: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return -log posterior of training rows' labels (m, n), each left out of the union.

        The union is that of all training rows and one asked row with label c; `asked` has a block
        for each group. The second array (m,) marks asked rows for which there is no formula.
        """
        held = self.weights.copy()
        held[c] += 1.0
        priors = self._log_priors(held)
        read = [group.asked(block) for group, block in zip(self.groups, asked, strict=True)]
        unsafe = np.any([bad for _, bad in read], axis=0)
        rows = np.arange(len(self.codes))
        found = np.zeros((len(unsafe), len(rows)))
        for i in np.flatnonzero(~unsafe):
            joint: FloatArray | None = None
            for group, (cells, _) in zip(self.groups, read, strict=True):
                part, safe = group.added(cells[i], c)
                unsafe[i] |= not safe
                joint = part if joint is None else joint + part
            assert joint is not None
            if self.temperature != 1.0:
                joint = joint * self.temperature
            joint = joint + priors
            found[i] = log_sum_exp(joint) - joint[rows, self.codes]
        # A row that was all its class had is infinitely strange without it.
        unsafe |= np.isnan(found).any(axis=1)
        return np.maximum(found, 0.0), np.asarray(unsafe)

    def _log_priors(self, held: FloatArray) -> FloatArray:
        """Return the log priors (n, k) of the models without each row."""
        rows = np.arange(len(self.codes))
        left = np.broadcast_to(held, (len(rows), len(held))).copy()
        left[rows, self.codes] -= 1.0
        gone = left[rows, self.codes] <= 1e-12 * held[self.codes]
        left[rows[gone], self.codes[gone]] = 0.0
        if self.log_priors is not None:
            found = np.broadcast_to(self.log_priors, left.shape).copy()
            found[rows[gone], self.codes[gone]] = -np.inf
            return found
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(left / left.sum(axis=1, keepdims=True)))


def _group(
    family: Any, groups: Sequence[Any], alpha: float, block: Any, codes: IntArray
) -> AddedGroup | None:
    """Return the columns of one family made ready; None where there is no formula."""
    if isinstance(family, (Categorical, Binned, Bernoulli)):
        return AddedLevels.of(family, groups, alpha, block, codes)
    if isinstance(family, Poisson):
        return AddedCounts.of(groups, alpha, block, codes)
    if type(family) is Multinomial:
        return AddedWords.of(family, groups, alpha, block, codes)
    if type(family) in (GaussianColumns, LogNormal):
        _, notes = family.estimate(groups, alpha)
        cells, summary = family.transformed(block), family.summary(groups)
        made = NORMAL_FORMS[family.inner.covariance]
        found: Any = made.of(summary, family.inner.divisor, notes, cells, codes, family)
        return found  # type: ignore[no-any-return]
    return None
