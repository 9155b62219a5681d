"""The M-step: what naive Bayes makes of tallies and moments, under a prior that is stated.

Smoothing by α is a prior, family by family; with it, log-likelihood and log prior together are what
EM maximises, and never falls:

    levels, bins, words     Dirichlet: α·Σ log p(level), α rows more of each
    yes and no              the same of both: α·(log p + log (1 - p))
    counts                  gamma: α·(m log λ - λ), α rows more at the mean m of all
    normal, log-normal      scaled inverse χ²: -½α·(log σ² + v/σ²), α rows more that spread by v, a
                            hundredth of the column's variance, about the mean of the class

α = 0 is maximum likelihood. That of normal columns has no maximum where a class shrinks onto equal
cells: no standard deviation is below a thousandth of that of all rows, and a note says where.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.gaussian.learner import log_frequencies
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.categorical import Categorical
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.learner import NaiveBayesFit
from suffice.models.naive_bayes.model import NaiveBayesModel
from suffice.models.notes import Note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray
    from suffice.statistics import ByClass

SPREAD = 0.01
"""Variance of the rows that a prior adds to normal columns, over that of all rows: a tenth of their
standard deviation. A choice: with all of it, a small class far tighter than the whole would be
blurred; with a tenth of it, it is not, and none collapses."""
FLOOR = 1e-6
"""Variance that a class has at least where there is no prior, over that of all rows: with less, a
class of a few equal cells would outweigh everything. A choice."""
KNOWN = (
    Bernoulli, Binned, Categorical, GaussianColumns, LogNormal, Multinomial, Poisson,
)  # fmt: skip
"""Families whose estimate is the maximum under a prior, so that EM climbs."""


def is_known(family: ColumnFamily) -> bool:
    """Whether hidden classes may have columns of a family."""
    inner = family.family if isinstance(family, Common) else family
    return type(inner) in KNOWN


@dataclass(frozen=True, slots=True)
class HiddenClasses:
    """Families of columns, and α ≥ 0: from the statistics of hidden classes to a model.

    >>> from suffice.families import Bernoulli, Product
    >>> from suffice.rows import read_table
    >>> hidden = HiddenClasses(Product.of_columns([Bernoulli()]), 1.0)
    >>> rows = hidden.product.read(read_table([[1], [1], [0], [0]]))
    >>> statistics = hidden.product.summarize(rows, np.array([1, 1, 1, 0]), [0, 1])
    >>> fit = hidden.fit(statistics)
    >>> fit.model.laws[0].probabilities[:, 0].round(3).tolist()
    [0.333, 0.6]
    >>> round(hidden.log_prior(fit), 4)  # log 1/3 + log 2/3 + log 3/5 + log 2/5
    -2.9312
    """

    product: Product
    alpha: float
    shares: Mapping[Any, float] | None = None
    """Shares of classes that do not follow from their rows: of those to whom something is known."""

    variances: tuple[FloatArray | None, ...] | None = None
    """Of normal columns the variance over all rows, where it is known; it follows from statistics
    of classes that have all rows, and not from those that acceleration makes up."""

    def knowing(self, statistics: ByClass[Any]) -> HiddenClasses:
        """Return the same, knowing how columns vary over all rows."""
        groups = self.product.groups(statistics, statistics.labels)
        found = tuple(
            total_variances(parts) if is_normal(family) else None
            for family, parts in zip(self.product.families, groups, strict=True)
        )
        return replace(self, variances=found)

    def _variances(self, groups: Sequence[Sequence[object]]) -> Sequence[FloatArray | None]:
        if self.variances is not None:
            return self.variances
        pairs = zip(self.product.families, groups, strict=True)
        return [total_variances(parts) if is_normal(f) else None for f, parts in pairs]

    def fit(self, statistics: ByClass[Any]) -> NaiveBayesFit:
        """Return the laws of all columns, shares, and the statistics they were estimated from."""
        labels = statistics.labels
        groups = self.product.groups(statistics, labels)
        alphas = (self.alpha,) * len(groups)
        each = zip(self.product.families, groups, self._variances(groups), strict=True)
        completed = [_completed(*one, self.alpha) for one in each]
        laws, notes = self.product.estimate(completed, alphas)
        notes += self._held_up(groups, completed)
        weights = np.array([statistics.groups[label].weight for label in labels])
        model = NaiveBayesModel(
            labels,
            log_frequencies(weights) if self.shares is None else self._log_shares(labels),
            laws,
            self.product,
            weights,
            1.0,
            self.product.blank(groups),
        )
        return NaiveBayesFit(model, groups, alphas, notes)

    def _held_up(
        self, groups: Sequence[Sequence[Any]], completed: Sequence[Sequence[Any]]
    ) -> tuple[Note, ...]:
        """Return where the variance of a class was below the least that it may be."""
        if self.alpha > 0.0:
            return ()
        columns: set[int] = set()
        classes: set[int] = set()
        for parts, held, places in zip(groups, completed, self.product.columns, strict=True):
            if held is parts:
                continue
            for c, (before, after) in enumerate(zip(parts, held, strict=True)):
                raised = np.flatnonzero(after.scatter > before.scatter)
                columns |= {places[int(j)] for j in raised}
                classes |= {c} if len(raised) else set()
        if not columns:
            return ()
        return (
            Note(
                "classes that do not vary in a column, so that the likelihood has no maximum",
                "their standard deviation is a thousandth of that of all rows; smoothing above 0 "
                "is a prior that keeps them from it",
                tuple(sorted(columns)),
                tuple(sorted(classes)),
            ),
        )

    def _log_shares(self, labels: Sequence[object]) -> FloatArray:
        assert self.shares is not None
        with np.errstate(divide="ignore"):
            found: FloatArray = np.log(np.array([self.shares[label] for label in labels]))
        return found

    def log_prior(self, fit: NaiveBayesFit) -> float:
        """Return the log of the prior at a model, up to a constant; 0 where there is none."""
        if self.alpha == 0.0:
            return 0.0
        variances = self._variances(fit.groups)
        each = zip(self.product.families, fit.groups, fit.model.laws, variances, strict=True)
        return self.alpha * sum(_log_density(*one) for one in each)

    def parameters(self, fit: NaiveBayesFit) -> int:
        """Return how many free numbers a model has: shares, and those of every column."""
        each = zip(self.product.families, fit.groups, strict=True)
        return len(fit.model.labels) - 1 + sum(_parameters(*one) for one in each)


def is_normal(family: ColumnFamily) -> bool:
    """Whether columns, or their logarithms, are normal."""
    return isinstance(family.family if isinstance(family, Common) else family, GaussianColumns)


def _completed(
    family: ColumnFamily, parts: Sequence[object], variances: FloatArray | None, alpha: float
) -> Sequence[object]:
    """Return the statistics of classes with the rows that a prior adds to normal columns."""
    if variances is None:
        return parts
    if alpha == 0.0:
        return _floored(family, parts, FLOOR * variances)
    if isinstance(family, Common):  # one law: its rows are added once
        return [*parts[:-1], _with_rows(parts[-1], reduce(add, parts), variances, alpha)]
    return [_spread(part, alpha, SPREAD * variances) for part in parts]


def _floored(family: ColumnFamily, parts: Sequence[Any], least: FloatArray) -> Sequence[object]:
    """Return moments whose variances are at least so large: of each class, or of all together."""
    inner = family.family if isinstance(family, Common) else family
    assert isinstance(inner, GaussianColumns)
    if isinstance(family, Common):
        return parts
    if inner.variance == "shared":
        lacking = sum(part.counts * least - part.scatter for part in parts)
        if not (lacking > 0.0).any():
            return parts
        first = parts[0]
        raised = replace(first, scatter=first.scatter + np.maximum(lacking, 0.0))
        return [_spread(raised, 0.0, least), *parts[1:]]
    if all((part.scatter >= part.counts * least).all() for part in parts):
        return parts
    return [
        _spread(replace(part, scatter=np.maximum(part.scatter, part.counts * least)), 0.0, least)
        for part in parts
    ]


def _with_rows(last: Any, whole: Any, variances: FloatArray, alpha: float) -> object:
    """Return the statistics of a class with rows such that those of all classes have α more."""
    extra = type(last)(
        alpha,
        np.where(whole.counts > 0.0, alpha, 0.0),
        whole.mean,
        whole.low,
        np.where(whole.counts > 0.0, alpha * SPREAD * variances, 0.0),
        np.zeros(whole.width),
    )
    return last + extra


def _spread(part: Any, rows: float, variances: FloatArray) -> object:
    """Return the moments of a class with so many rows more about its mean, of these variances."""
    seen = part.counts > 0.0
    return replace(
        part,
        counts=part.counts + np.where(seen, rows, 0.0),
        scatter=part.scatter + np.where(seen, rows * variances, 0.0),
        usual=None,
        unusual=None,
        steps=None,
    )


def total_variances(parts: Sequence[Any]) -> FloatArray:
    """Return the variance of each column over all classes, 0 where it has no cell."""
    counts = np.stack([part.counts for part in parts])
    held = counts.sum(axis=0)
    safe = np.where(held > 0.0, held, 1.0)
    first = max(parts, key=lambda part: float(part.counts.sum()))
    gaps = np.stack([(part.mean - first.mean) + (part.low - first.low) for part in parts])
    gaps = np.where(counts > 0.0, gaps, 0.0)
    centre = (counts * gaps).sum(axis=0) / safe
    between = (counts * np.square(gaps - centre)).sum(axis=0)
    found: FloatArray = (np.stack([part.scatter for part in parts]).sum(axis=0) + between) / safe
    return found


def _log_density(
    family: ColumnFamily, parts: Sequence[Any], law: Any, variances: FloatArray | None
) -> float:
    """Return the log density of the prior at the laws of a group of columns, over α."""
    if isinstance(family, Common):
        return _log_density(family.family, [reduce(add, parts)], law.inner, variances)
    if isinstance(family, Categorical | Binned):
        return float(sum(table[:-2].sum() for table in law.tables if len(table) > 2))
    if isinstance(family, Bernoulli):
        seen = np.any([part.observed for part in parts], axis=0)
        return float((law.slopes + 2.0 * law.offsets)[:, seen].sum())
    if isinstance(family, Multinomial):
        return float(law.slopes.sum())
    if isinstance(family, Poisson):
        sums, held = (sum(getattr(part, n) for part in parts) for n in ("sums", "counts"))
        there = sums > 0.0
        means = sums[there] / held[there]
        return float((means * law.slopes[:, there] + law.offsets[:, there]).sum())
    assert variances is not None
    active = law.normals.active & (variances > 0.0)
    own = np.broadcast_to(law.normals.variances, (len(parts), len(variances)))
    ratios = own[:, active] / variances[active]
    return float(-0.5 * (np.log(ratios) + SPREAD / ratios).sum())


def _parameters(family: ColumnFamily, parts: Sequence[Any]) -> int:
    """Return how many free numbers the laws of a group of columns have."""
    if isinstance(family, Common):
        return _parameters(family.family, [reduce(add, parts)])
    size = len(parts)
    whole = reduce(add, parts)
    if isinstance(family, Categorical):
        return size * sum(max(0, len(levels) - 1) for levels in whole.trimmed().levels)
    seen = int(whole.observed.sum())
    if isinstance(family, Binned):
        return size * seen * (len(family.edges or ((), ())) - 2)
    if isinstance(family, Multinomial):
        return size * (int(whole.width) - 1)
    if isinstance(family, Bernoulli):
        return size * seen
    if isinstance(family, Poisson):
        return size * int((whole.sums > 0.0).sum())
    assert isinstance(family, GaussianColumns)
    varies = int((total_variances(parts) > 0.0).sum())
    return varies * (size + 1 if family.variance == "shared" else 2 * size)
