"""Which sums suffice for a learner, and so may be asked of whoever can add up rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from suffice.models.gaussian.averages.learner import AveragingLearner
from suffice.models.gaussian.family import DIAGONAL_FORMS
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.categorical import Categorical
from suffice.models.naive_bayes.families.complement import Complement
from suffice.models.naive_bayes.families.gaussian import GaussianColumns, LogNormal
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.learner import NaiveBayesLearner
from suffice.rows.sparse import MOST_COUNT

if TYPE_CHECKING:
    from suffice.models.naive_bayes.families.protocol import ColumnFamily


@dataclass(frozen=True, slots=True)
class Products:
    """Weight, mean and scatter of all columns together: `Moments` by class, or `PooledMoments`."""

    pooled: bool


@dataclass(frozen=True, slots=True)
class Squares:
    """Weight, mean and squares of every column by itself: `DiagonalMoments`.

    logarithm  of the logarithms of the cells, which are positive then
    """

    logarithm: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """The sum of every column: `Totals`.

    threshold  cells above it count as 1, others as 0; None adds up the cells themselves
    whole      whether cells have to be whole numbers
    most       the largest number that a cell may be, None where there is no bound
    least      the smallest one
    blank      whether cells may be missing
    """

    threshold: float | None = None
    whole: bool = False
    most: float | None = None
    least: float | None = 0.0
    blank: bool = True


@dataclass(frozen=True, slots=True)
class Levels:
    """How often every level of every column was seen: `Tallies`.

    edges  levels are bins of numbers, cut here; None takes cells as they are
    """

    edges: tuple[float, ...] | None = None


Part: TypeAlias = Squares | Counts | Levels


@dataclass(frozen=True, slots=True)
class Parts:
    """Several kinds side by side, each of some columns: `ByColumn`."""

    parts: tuple[tuple[Part, tuple[int, ...]], ...]


Asked: TypeAlias = Products | Squares | Parts


def sums_asked(learner: object) -> Asked | None:
    """Return the sums that a learner's statistics are; None where it has to see rows.

    >>> from suffice.models.gaussian.family import Gaussian
    >>> sums_asked(GaussianLearner(Gaussian("shared")))
    Products(pooled=True)
    """
    if isinstance(learner, AveragingLearner) and not learner.keeps_rows:
        learner = learner.inner
    if isinstance(learner, GaussianLearner):
        form = learner.family.covariance
        return Squares() if form in DIAGONAL_FORMS else Products(pooled=form == "shared")
    if not isinstance(learner, NaiveBayesLearner) or learner.keeps_folds or learner.keeps_rows:
        return None  # folds and samples go by what a row says
    parts = []
    for family, columns in zip(learner.product.families, learner.product.columns, strict=True):
        part = _part(family)
        if part is None:
            return None
        parts.append((part, tuple(columns)))
    return Parts(tuple(parts))


def _part(family: ColumnFamily) -> Part | None:
    """Return the sums that suffice for columns of a family, and which cells it refuses."""
    if isinstance(family, Common):
        return _part(family.family)
    if isinstance(family, GaussianColumns):
        return Squares(logarithm=isinstance(family, LogNormal))
    if isinstance(family, Poisson):
        return Counts(whole=True, most=MOST_COUNT)
    if isinstance(family, Bernoulli):
        if family.threshold is None:
            return Counts(whole=True, most=1.0)
        return Counts(threshold=family.threshold, least=None)
    if isinstance(family, (Multinomial, Complement)):
        return Counts(threshold=0.0 if family.boolean else None, most=MOST_COUNT, blank=False)
    if isinstance(family, Binned):
        return Levels(family.edges)
    return Levels() if isinstance(family, Categorical) else None
