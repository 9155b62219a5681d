"""Gaussian columns whose means and variances are averaged over what is not known of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from suffice.errors import BadSetting
from suffice.linear_algebra import check_finite
from suffice.models.gaussian.floors import VARIANCE_FLOOR
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.protocol import BaseLaws, Scores
from suffice.models.notes import Note
from suffice.rows import refuse_infinite
from suffice.special_functions import log_gamma_rise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.naive_bayes.asked_of_families import LinearCell, StudentCell
    from suffice.models.naive_bayes.pictures import Density
    from suffice.rows import FloatArray, IntArray
    from suffice.statistics import DiagonalMoments

FAR = 1e100
"""Deviations from which 1 + u²/f is u²/f to the last digit, and its square near overflow."""
LARGEST = 1e308
"""Deviations that stand for more than a double holds. Their logarithms differ by less than 1."""
LOST = 1e-6
"""The share of a column's scatter that must be left without a row: of less, a difference has fewer
than ten digits, and the row is judged by a refit instead."""
LEFTOVER = 1e-12
"""What subtracting may leave of a weight of nothing."""
REFITS = 1000
"""Rows that may be judged by refits: such rows are outliers by millions of deviations, and few."""
CELLS = 1_000_000
"""Numbers that leave-one-out holds at a time, rows times classes times columns: 8 MB, several
times. A choice."""


@dataclass(frozen=True, slots=True)
class PredictiveGaussian(GaussianColumns):
    """Normal columns with a prior, integrated out: each column is a Student t within a class.

    The plug-in density of a class of few rows is far too sure of its mean and variance. Here
    both are averaged over their posterior: `rows` rows at the mean of all, and `strength` rows that
    have the column's pooled variance within classes, are added to each class.

    strength  how many rows the prior of the variance is worth, a > 0
    rows      how many rows the prior of the mean is worth, κ > 0

    With counts W_c, means m_c and scatters S_c of a column, its mean g and pooled variance
    v = ΣS_c/(W - k): location (W_cm_c + κg)/(W_c + κ), degrees f = a + W_c, and squared scale
    (av + S_c + κW_c/(W_c + κ)·(m_c - g)²)(1 + 1/(W_c + κ))/f. With variance="shared" the scatters
    of all classes are added, and f = a + W.

    >>> from suffice import NaiveBayes
    >>> rows, labels = [[1.0], [3.0], [6.0], [10.0]], ["a", "a", "b", "b"]
    >>> NaiveBayes(PredictiveGaussian()).fit(rows, labels).parameters_["x0"]["a"]
    {'location': 3.0, 'scale': 2.494..., 'degrees': 6.0}
    """

    strength: float = 4.0
    rows: float = 1.0
    called: ClassVar[str] = "predictive-gaussian"
    form: ClassVar[Mapping[str, str]] = {"variance": "text", "strength": "scale", "rows": "scale"}
    becomes: ClassVar[str] = "StudentColumns"

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        GaussianColumns.__post_init__(self)
        for name in ("strength", "rows"):
            value: Any = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0.0 < value < np.inf:
                raise BadSetting(
                    f"{name}={value!r:.50} is not a positive number",
                    hint="it is how many rows the prior is worth: 4.0 and 1.0 unless named",
                )

    def estimate(  # type: ignore[override]
        self,
        groups: Sequence[DiagonalMoments],
        alpha: float,  # noqa: ARG002
    ) -> tuple[StudentColumns, tuple[Note, ...]]:
        """Return the laws of all classes; there is nothing to smooth."""
        summary = self.summary(groups)
        constant = tuple(int(j) for j in np.flatnonzero(~summary.active))
        notes: tuple[Note, ...] = ()
        if constant:
            notes = (Note("columns that never vary", "they are left out", constant, silent=True),)
        return self.student(summary), notes

    def student(self, summary: ClassSummary) -> StudentColumns:
        """Return the laws from all classes' moments side by side."""
        assert summary.scatters is not None
        t = self.parameters(summary.counts, summary.means, summary.scatters)
        active = summary.active
        check_finite(*(part[..., active] for part in (t.locations, t.spreads, t.degrees)))
        return StudentColumns(
            summary.origin,
            summary.origin_low,
            summary.scale,
            active,
            np.where(active, t.locations, 0.0),
            np.where(active, t.spreads, 1.0),
            np.ascontiguousarray(t.degrees),
            summary.counts,
            self.variance == "shared",
        )

    def parameters(
        self, counts: FloatArray, means: FloatArray, scatters: FloatArray
    ) -> StudentParameters:
        """Return location, scale and degrees from moments (…, k, d), table by table.

        The prior has the pooled variance, or the total one where there are no more rows than
        classes.
        """
        held = counts.sum(axis=-2, keepdims=True)
        seen = np.where(held > 0.0, held, 1.0)
        centre = (counts * means).sum(axis=-2, keepdims=True) / seen
        apart = np.square(means - centre)
        within = scatters.sum(axis=-2, keepdims=True)
        total = (within + (counts * apart).sum(axis=-2, keepdims=True)) / seen
        degrees = held - (counts > 0.0).sum(axis=-2, keepdims=True)
        pooled = np.where(degrees >= 1.0, within / np.maximum(degrees, 1.0), total)
        prior = self.strength * np.maximum(pooled, VARIANCE_FLOOR * total)
        whole = counts + self.rows
        own = scatters + self.rows * counts / whole * apart
        freedom = counts
        if self.variance == "shared":
            own, freedom = own.sum(axis=-2, keepdims=True), held
        f = np.broadcast_to(self.strength + freedom, counts.shape)
        squares = (prior + own) * (1.0 + 1.0 / whole) / f
        locations = (counts * means + self.rows * centre) / whole
        with np.errstate(invalid="ignore"):
            return StudentParameters(locations, np.sqrt(squares), f, total[..., 0, :])

    def left_out_rows(
        self,
        groups: Sequence[DiagonalMoments],
        block: Any,
        codes: IntArray,
        weights: FloatArray,
        *,
        complete: bool,
        budget: float = 0.0,  # noqa: ARG002
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been.

        A row changes its own class, and with the prior every other one: all moments are taken
        anew, column by column, without it. `complete` says that the rows are all there were.
        """
        summary = self.summary(groups)
        cells = np.asarray(self.transformed(block), dtype=np.float64)
        refuse_infinite(cells, None)
        step = max(1, CELLS // max(1, summary.counts.size))
        logs = np.empty((len(cells), summary.size))
        hard: list[int] = []
        for start in range(0, len(cells), step):
            some = slice(start, start + step)
            logs[some], lost = self._without(summary, cells[some], codes[some], weights[some])
            hard += (start + np.flatnonzero(lost)).tolist()
        if complete:
            for i in hard[:REFITS]:
                others = np.arange(len(codes)) != i
                left = weights[others], block[others], codes[others]
                moments = self.summarize(left[1], left[2], len(groups), left[0])
                logs[i] = self.student(self.summary(moments)).scores(block[i : i + 1]).logs[0]
        return Scores(logs, None)

    def _without(
        self, summary: ClassSummary, cells: FloatArray, codes: IntArray, weights: FloatArray
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return scores of some rows without them, and which of these have lost their digits."""
        assert summary.scatters is not None
        z = summary.standardized(cells)
        blank, places = np.isnan(z), np.arange(len(z))
        z, w = np.where(blank, 0.0, z), np.where(blank, 0.0, weights[:, np.newaxis])
        shape = (len(z), *summary.counts.shape)
        counts, means, scatters = (
            np.broadcast_to(part, shape).copy()
            for part in (summary.counts, summary.means, summary.scatters)
        )
        held, gap = counts[places, codes], z - means[places, codes]
        left = held - w
        left = np.where(left <= LEFTOVER * held, 0.0, left)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(left > 0.0, w / np.where(left > 0.0, left, 1.0), 0.0)
        counts[places, codes] = left
        means[places, codes] -= share * gap
        lower = scatters[places, codes] - share * held * np.square(gap)
        scatters[places, codes] = np.where(left > 0.0, np.maximum(lower, 0.0), 0.0)
        t = self.parameters(counts, means, scatters)
        # All rows together have a variance of 1: what is left of it has that many digits fewer.
        few = (t.total < LOST) & summary.active & ~blank
        active = summary.active & (t.total > LEFTOVER)
        spreads = np.where(active[:, np.newaxis], t.spreads, 1.0)
        found = student_logs(z[:, np.newaxis], t.locations, spreads, t.degrees)
        found -= np.log(summary.scale)
        counted = (active & ~blank)[:, np.newaxis]
        return np.where(counted, found, 0.0).sum(axis=2), np.asarray(few.any(axis=1))


class StudentParameters(NamedTuple):
    """Locations, scales and degrees (…, k, d), and the total variance of every column (…, d)."""

    locations: FloatArray
    spreads: FloatArray
    degrees: FloatArray
    total: FloatArray


def student_logs(
    cells: FloatArray, locations: FloatArray, spreads: FloatArray, degrees: FloatArray
) -> FloatArray:
    """Return log t of every cell, class by class; finite for finite cells.

    >>> student_logs(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1)).round(4)  # -log π
    array([-1.1447])
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        gaps = cells - locations
        u = gaps / spreads
        # Far away the square would overflow: there 1 + u²/f is u²/f.
        far = 2.0 * (np.log(np.abs(gaps)) - np.log(spreads)) - np.log(degrees)
        fall = np.where(np.abs(u) > FAR, far, np.log1p(np.square(u) / degrees))
    half = (degrees + 1.0) / 2.0
    level = log_gamma_rise(degrees / 2.0, 0.5) - 0.5 * np.log(degrees * np.pi)
    found: FloatArray = level - np.log(spreads) - half * fall
    return found


@dataclass(frozen=True, eq=False)
class StudentColumns(BaseLaws):
    """log p(x | c) = Σ_j log t((x_j - location_cj)/scale_cj; degrees_cj) - log scale_cj.

    In standardized columns z = (x - origin)/scale; `active` are those that vary.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    locations: FloatArray
    spreads: FloatArray
    degrees: FloatArray
    counts: FloatArray
    shared: bool
    form: ClassVar[Mapping[str, str]] = {
        "origin": "float d",
        "origin_low": "float d",
        "scale": "unit d",
        "active": "truth d",
        "locations": "moderate k d",
        "spreads": "deviation k d",
        "degrees": "scale k d",
        "counts": "weight k d",
        "shared": "truth",
    }

    def agrees(self, other: Self, room: float) -> bool:
        """Compare locations in units of scales, scales and degrees relative to themselves."""
        if self.shared != other.shared or not np.array_equal(self.active, other.active):
            return False
        act = self.active
        scales = [(law.spreads * law.scale)[:, act] for law in (self, other)]
        apart = np.abs(self.class_locations - other.class_locations)[:, act]
        near = apart <= room * (scales[0] + np.abs(self.class_locations[:, act]) * 1e-6)
        near &= np.abs(scales[0] - scales[1]) <= room * scales[0]
        gap = np.abs(self.degrees - other.degrees)
        return bool(near.all()) and bool((gap <= room * (1.0 + self.degrees)).all())

    def cell(self, column: int) -> StudentCell | LinearCell:
        """Return Student's t of one column; nothing where it never varies."""
        from suffice.models.naive_bayes.asked_of_families import LinearCell, StudentCell

        if not self.active[column]:
            return LinearCell(np.zeros(self.size), None)
        j = column
        at, spreads, degrees = self.locations[:, j], self.spreads[:, j], self.degrees[:, j]
        origin, low, scale = float(self.origin[j]), float(self.origin_low[j]), float(self.scale[j])
        levels = student_logs(at, at, spreads, degrees)
        return StudentCell(origin, low, scale, at, spreads, degrees, levels)

    def picture(self, column: int, name: str) -> Density:
        """Return the densities."""
        from suffice.models.naive_bayes.pictures import parameters, student_density

        found = [self.described(column, c) for c in range(self.size)]
        at, spread, f = (parameters(found, part) for part in ("location", "scale", "degrees"))
        return student_density(at, spread, f, name)

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.locations)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.origin)

    def _standardized(self, block: NDArray[np.generic], columns: slice = slice(None)) -> FloatArray:
        with np.errstate(over="ignore"):
            centred = np.asarray(block, dtype=np.float64) - self.origin[columns]
            found: FloatArray = (centred - self.origin_low[columns]) / self.scale[columns]
        return found

    def scores(self, block: NDArray[np.generic]) -> Scores:
        """Return log p(x | c); missing cells are skipped."""
        return Scores(self._logs(block, slice(None)), None)

    def _logs(self, block: NDArray[np.generic], columns: slice) -> FloatArray:
        z = self._standardized(block, columns)
        if np.isinf(z).any():
            refuse_infinite(np.asarray(block), None)
            z = np.clip(z, -LARGEST, LARGEST)
        counted = self.active[columns] & ~np.isnan(z)
        out = np.empty((len(z), self.size))
        units = np.log(self.scale[columns])
        for c in range(self.size):
            own = (part[c, columns] for part in (self.locations, self.spreads, self.degrees))
            logs = student_logs(z, *own) - units
            out[:, c] = np.where(counted, logs, 0.0).sum(axis=1)
        return out

    def carrier(self, block: NDArray[np.generic]) -> FloatArray:
        """Return zeros: classes share nothing."""
        return np.zeros(len(block))

    def column_scores(self, block: NDArray[np.generic], column: int) -> Scores:
        """Return what one column adds to the scores."""
        one = slice(column, column + 1)
        return Scores(self._logs(block[:, one], one), None)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: a Student t in every column."""
        z = rng.standard_t(self.degrees[codes])
        spread = np.where(self.active, self.spreads, 0.0)[codes]
        places = self.origin_low + (self.locations[codes] + z * spread) * self.scale
        found: FloatArray = self.origin + places
        return found

    def why_not_linear(self) -> tuple[str, str]:
        """Return that tails are no parabolas."""
        return (
            ": columns averaged over their variances have a Student t",
            'GaussianColumns(variance="shared") has a linear form',
        )

    def linear(self) -> None:
        """Return None: tails of a t are no lines, with shared variances either."""
        return

    @cached_property
    def class_locations(self) -> FloatArray:
        """The locations in the user's units (k, d)."""
        return self.origin + (self.origin_low + self.locations * self.scale)

    def estimation_variance(self, block: NDArray[np.generic], omegas: FloatArray) -> float:
        """Return Σ_cj a_cj²/W_cj for the locations, and M_cj²/(2W_cj) for the scales.

        a_cj and M_cj are the derivatives of Σ_i ω_ci log t by location and by the logarithm of the
        scale, in units of the scale; shared scales were learned from all classes together.
        """
        act = self.active
        z = self._standardized(block)[:, act]
        held = np.maximum(self.counts[:, act], 1.0)
        firsts, seconds = np.zeros_like(held), np.zeros_like(held)
        for c, omega in enumerate(omegas):
            f = self.degrees[c, act]
            with np.errstate(over="ignore", invalid="ignore"):
                u = (z - self.locations[c, act]) / self.spreads[c, act]
                seen = ~np.isnan(u) & (omega != 0.0)[:, np.newaxis]
                u = np.clip(np.where(seen, u, 0.0), -FAR, FAR)
                weight = (f + 1.0) / (f + np.square(u))
            firsts[c], seconds[c] = omega @ (weight * u), omega @ (weight * np.square(u) - seen)
        means = np.square(firsts) / held
        if self.shared:
            spreads = np.square(seconds.sum(axis=0)) / (2.0 * held.sum(axis=0))
        else:
            spreads = np.square(seconds) / (2.0 * held)
        return float(means.sum() + spreads.sum())

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return location, scale and degrees of freedom; a scale of 0 where nothing varies."""
        spread = self.spreads[code, column] * self.scale[column] * self.active[column]
        return {
            "location": float(self.class_locations[code, column]),
            "scale": float(spread),
            "degrees": float(self.degrees[code, column]),
        }
