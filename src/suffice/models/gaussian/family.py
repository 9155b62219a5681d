"""Normal classes: which moments suffice, and what they become."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import collect_blocks, pinned
from suffice.errors import BadSetting, NotFinite, listed
from suffice.models.gaussian.floors import (
    VARIANCE_FLOOR,
    Pooled,
    class_covariances,
    degrees_of_freedom,
    lacking_directions,
    pooled_covariance,
)
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.notes import STAND_IN, Note
from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.gaussian.factors.normals import FactorNormals
    from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
    from suffice.models.gaussian.predictive.estimate import StudentClasses
    from suffice.rows import FloatArray, IntArray, Label

    NormalClasses = FullNormals | DiagonalNormals | FactorNormals | StudentClasses | AveragedLaws

FULL_FORMS = ("shared", "per-class")
"""Forms with covariances between columns: these can be pooled and shrunk."""
DIAGONAL_FORMS = ("diagonal", "shared-diagonal", "spherical")
"""Forms without, for which sums of squares by column suffice."""
FORMS = FULL_FORMS + DIAGONAL_FORMS
"""What `covariance` may be, besides three letters."""
SHRINK_TARGETS = ("diagonal", "scaled")
"""What a covariance may be drawn to: its own diagonal, or the mean of that for all columns."""
DIVISORS = ("mle", "unbiased")
"""What a scatter is divided by: its weight, or that less the degrees of freedom of the means."""
PINNED_WIDTH = 24
"""Columns from which BLAS is held to one thread while covariances are factored. A choice, as is
`engines.threads.TINY`: narrower matrices are done in the time that it takes to set the limit."""

GaussianStatistics = (
    ByPattern[PooledMoments] | ByPattern[ByClass[Moments]] | ByClass[DiagonalMoments]
)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Settings of normal classes: the form of their covariances, and how it is regularized.

    Parameters
    ----------
    covariance : str, default="shared"
        "shared", "per-class", "diagonal", "shared-diagonal", "spherical", or the three letters of
        one of the fourteen forms (EII … VVV).
    pool : float or None, default=None
        0 … 1: the share of the pooled scatter in a per-class covariance.
    shrink : float or None, default=None
        0 … 1: how far off-diagonals move toward the target.
    shrink_target : str, default="diagonal"
        "diagonal" (the class's own) or "scaled" (shared, rescaled).
    divisor : str, default="mle"
        "mle" (W) or "unbiased" (W - k, W_c - 1).
    predictive : float or None, default=None
        Above 0: parameters are averaged over under a prior of so many rows (Student's t); None
        plugs the estimates in.
    prior_rows : float, default=0.0
        Rows of that prior at the mean of all rows.
    factors : int or str or None, default=None
        From 1, or "auto" (BIC): covariances are ΛΛᵀ + Ψ.

    See Also
    --------
    suffice.GaussianDiscriminant : The estimator with these settings.

    Examples
    --------
    >>> Gaussian("per-class", pool=0.5).covariance
    'per-class'
    """

    covariance: str = "shared"
    pool: float | None = None
    shrink: float | None = None
    shrink_target: str = "diagonal"
    divisor: str = "mle"
    predictive: float | None = field(default=None, metadata={"later": True})
    prior_rows: float = field(default=0.0, metadata={"later": True})
    factors: int | str | None = field(default=None, metadata={"later": True})

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.covariance not in FORMS:
            # Who has one of our words need not load the letters.
            from suffice.models.gaussian.forms import spoken

            object.__setattr__(self, "covariance", spoken(self.covariance, FORMS))
        for name, value, choices in (
            ("shrink_target", self.shrink_target, SHRINK_TARGETS),
            ("divisor", self.divisor, DIVISORS),
        ):
            if value not in choices:
                raise BadSetting(
                    f"{name}={value!r} is not known", hint=f"choose one of {listed(choices)}"
                )
        self._check_shares()
        self._check_prior()
        if self.factors is not None:
            # Who has none need not load what finds them.
            from suffice.models.gaussian.factors.estimate import check_factors

            check_factors(self)

    def _check_shares(self) -> None:
        """Refuse shares that are none, and settings that the form has not."""
        if self.is_tied and (self.divisor != "mle" or self.predictive is not None):
            name = "predictive" if self.divisor == "mle" else "divisor"
            raise BadSetting(
                f'{name}={getattr(self, name)!r} does not apply to covariance="{self.covariance}"',
                hint=f"leave {name} out: forms that classes share are fitted by maximum likelihood",
            )
        for name, share in (("pool", self.pool), ("shrink", self.shrink)):
            number = isinstance(share, Real) and not isinstance(share, bool)
            if share is not None and not (number and 0.0 <= share <= 1.0):
                raise BadSetting(
                    f"{name}={share!r} is outside 0 … 1", hint=f"0 means no {name}, 1 full {name}"
                )
        if self.pool is not None and self.covariance != "per-class":
            raise BadSetting(
                f'pool={self.pool:g} does not apply to covariance="{self.covariance}"',
                hint='use covariance="per-class": pooling mixes per-class covariances',
            )
        if self.shrink is not None and self.covariance not in FULL_FORMS:
            raise BadSetting(
                f'shrink={self.shrink:g} does not apply to covariance="{self.covariance}"',
                hint='only "shared" and "per-class" have off-diagonals to shrink',
            )

    def _check_prior(self) -> None:
        """Refuse a prior without meaning, and settings that have none beside it."""
        for name, least in (
            ("predictive", 'above 0; "auto" averages over several'),
            ("prior_rows", "of at least 0"),
        ):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            fits = number and 0.0 <= value < np.inf and (value > 0.0 or name == "prior_rows")
            if value is not None and not fits:
                raise BadSetting(
                    f"{name}={value!r} is not a number of rows", hint=f"use a number {least}"
                )
        if self.predictive is None:
            if self.prior_rows:
                raise BadSetting(
                    f"prior_rows={self.prior_rows:g} belongs to predictive",
                    hint='set predictive as well: a number of rows, or "auto"',
                )
            return
        if self.shrink is not None:
            raise BadSetting(
                f"shrink={self.shrink:g} does not apply to predictive: "
                "the prior draws covariances toward a diagonal already",
                hint="leave shrink out, and raise predictive",
            )
        if self.divisor != "mle":
            raise BadSetting(
                f'divisor="{self.divisor}" cannot be combined with predictive, '
                "which plugs in no covariance",
                hint="leave divisor out",
            )

    # Rows -> statistics

    @property
    def is_tied(self) -> bool:
        """Whether classes share part of their covariances: volumes, shapes or axes."""
        return self.covariance not in FORMS

    @property
    def is_refitted(self) -> bool:
        """Whether only a refit tells what a model without a row would say: there is no formula."""
        return self.is_tied or self.factors is not None

    @property
    def keeps_patterns(self) -> bool:
        """Whether missing cells are kept as patterns (diagonal forms just skip them)."""
        return self.covariance not in DIAGONAL_FORMS

    def accepts(self, statistics: object) -> bool:
        """Whether these are the statistics that `summarize` collects."""
        if self.covariance in DIAGONAL_FORMS:
            return isinstance(statistics, ByClass)
        kind = PooledMoments if self.covariance == "shared" else ByClass
        return isinstance(statistics, ByPattern) and all(
            isinstance(group, kind) for group in statistics.groups.values()
        )

    def summarize(
        self,
        rows: FloatArray,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> GaussianStatistics:
        """Summarize labelled rows; NaN is a missing cell. Weights are positive."""
        size, width = rows.shape

        def block(part: slice) -> GaussianStatistics:
            w = None if weights is None else weights[part]
            return self._summarize_block(rows[part], codes[part], labels, w)

        return collect_blocks(block, size, width)

    def _summarize_block(
        self,
        rows: FloatArray,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None,
    ) -> GaussianStatistics:
        if self.covariance in DIAGONAL_FORMS:
            return ByClass.of(DiagonalMoments, rows, codes, labels, weights)

        def full(part: FloatArray, chosen: IntArray | None) -> Any:
            c, w = codes, weights
            if chosen is not None:
                c, w = codes[chosen], None if weights is None else weights[chosen]
            if self.covariance == "shared":
                return PooledMoments.of_classes(part, c, labels, w)
            return ByClass.of(Moments, part, c, labels, w)

        # Looking for missing cells would cost a pass: sums that are not finite tell as well.
        try:
            return ByPattern.complete(rows.shape[1], full(rows, None))
        except NotFinite:
            if not np.isnan(rows).any():
                raise
        return ByPattern.of(rows, full)

    # Statistics -> distributions

    def divisors(self, summary: ClassSummary) -> tuple[FloatArray, float]:
        """Return the divisor of each class's scatter, and of the pooled one."""
        if self.divisor == "mle":
            return summary.weights, summary.weight
        pooled = degrees_of_freedom(summary.weight, float(summary.size))
        return degrees_of_freedom(summary.weights, 1.0), float(pooled)

    def estimate(self, summary: ClassSummary) -> tuple[NormalClasses, tuple[Note, ...]]:
        """Return the normal of every class, rank-deficient ones included, and reservations."""
        notes: list[Note] = []
        if not summary.active.all():
            columns = tuple(int(j) for j in np.flatnonzero(~summary.active))
            notes.append(Note("columns that never vary", "they are left out", columns, silent=True))
        if self.is_tied or self.covariance == "spherical":
            from suffice.models.gaussian.forms.estimate import units_notes

            notes += units_notes(self.covariance, summary)
        if self.predictive is not None:
            # Who plugs estimates in need not load what averages over them.
            from suffice.models.gaussian.predictive.estimate import predictive_classes

            with pinned() if summary.width >= PINNED_WIDTH else nullcontext():
                students, said = predictive_classes(self, summary)
            return students, (*notes, *said)
        if self.covariance in DIAGONAL_FORMS:
            from suffice.models.gaussian.diagonal_normals import DiagonalNormals, diagonal_variances

            variances, more = diagonal_variances(self, summary)
            return DiagonalNormals.of(summary, np.sqrt(variances)), (*notes, *more)
        normals: FullNormals | FactorNormals
        # Two BLAS threads on small matrices can be a hundred times slower than one.
        with pinned() if summary.width >= PINNED_WIDTH else nullcontext():
            if self.factors is not None:
                from suffice.models.gaussian.factors.estimate import factor_normals

                normals, more = factor_normals(self, summary)
            else:
                normals, more = self._full(summary)
        return normals, (*notes, *more)

    def pooled(self, summary: ClassSummary) -> FloatArray:
        """Return the pooled covariance of the active columns, before any floor."""
        _, divisor = self.divisors(summary)
        return summary.of_active(summary.scatter) / (divisor if divisor > 0.0 else summary.weight)

    def mixed(self, summary: ClassSummary, c: int) -> FloatArray:
        """Return the covariance of class c after pooling, before shrinking and floors."""
        divisors, divisor = self.divisors(summary)
        assert summary.scatters is not None
        own, share = summary.of_active(summary.scatters[c]), self.pool or 0.0
        freedom = (1.0 - share) * divisors[c] + share * divisor
        if freedom <= 0.0:
            return np.zeros_like(own)
        if share == 0.0:
            return np.asarray(own / freedom)
        pooled = summary.of_active(summary.scatter)
        return np.asarray(((1.0 - share) * own + share * pooled) / freedom)

    def shrunk(self, covariance: FloatArray, pooled_variances: FloatArray) -> FloatArray:
        """Return (1 - γ)Σ + γT with the target T: the own diagonal, or the rescaled pooled one."""
        share = self.shrink or 0.0
        if share == 0.0:
            return covariance
        own = np.diagonal(covariance)
        target = own
        if self.shrink_target == "scaled":
            least = np.maximum(pooled_variances, VARIANCE_FLOOR)
            target = float(np.mean(own / least)) * least if len(own) else own
        moved: FloatArray = (1.0 - share) * covariance
        np.fill_diagonal(moved, (1.0 - share) * own + share * target)
        return moved

    def divisors_of(self, summary: ClassSummary, c: int) -> float:
        """Return by what the scatter of class c is divided, after pooling."""
        divisors, divisor = self.divisors(summary)
        share = self.pool or 0.0
        return float((1.0 - share) * divisors[c] + share * divisor)

    def with_prior(
        self, covariance: FloatArray, pooled_variances: FloatArray, weight: float
    ) -> FloatArray:
        """Return a covariance of so much weight together with the prior's rows."""
        strength = float(self.predictive or 0.0)
        share = strength / (strength + weight)
        return np.asarray((1.0 - share) * covariance + np.diag(share * pooled_variances))

    def floored(self, summary: ClassSummary) -> Pooled:
        """Return the pooled covariance of the active columns, shrunk only if it is the model."""
        covariance = self.pooled(summary)
        if self.covariance == "shared":
            covariance = self.shrunk(covariance, np.diagonal(covariance))

        def total() -> FloatArray:
            return summary.of_active(summary.scatter + summary.between) / summary.weight

        return pooled_covariance(covariance, total)

    def _own_covariances(self, summary: ClassSummary) -> FloatArray | None:
        """Return what `mixed` does of all classes at once (k, d, d), where it only divides."""
        divisors, _ = self.divisors(summary)
        if self.pool or self.shrink or summary.scatters is None:
            return None
        if not (summary.active.all() and (divisors > 0.0).all()):
            return None
        found: FloatArray = summary.scatters / divisors[:, np.newaxis, np.newaxis]
        return found

    def _full(self, summary: ClassSummary) -> tuple[FullNormals, list[Note]]:
        pooled = self.floored(summary)
        notes = [] if pooled.basis is None else [lacking_directions(summary, pooled)]
        if self.covariance == "shared":
            factors, whitenings = pooled.factor[np.newaxis], pooled.whitening[np.newaxis]
            return FullNormals.of(summary, factors, whitenings, pooled), notes
        if self.is_tied:
            from suffice.models.gaussian.forms.estimate import tied_normals

            tied, more = tied_normals(self.covariance, summary, pooled)
            return tied, notes + more
        variances = np.square(pooled.deviations)
        size = summary.size
        covariances: Sequence[FloatArray] | FloatArray | None = self._own_covariances(summary)
        if covariances is None:
            covariances = [self.shrunk(self.mixed(summary, c), variances) for c in range(size)]
        factors, whitenings, thin = class_covariances(covariances, summary.weights, pooled)
        if thin:
            notes.append(
                Note(
                    f"{len(thin)} of {size} classes have no variance in some directions",
                    STAND_IN,
                    classes=tuple(thin),
                )
            )
        return FullNormals.of(summary, factors, whitenings, pooled), notes
