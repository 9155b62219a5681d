"""MultivariateNormal: a normal law with the names of its columns, given or fitted."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns import Column, Columns
from suffice.errors import (
    BadRows,
    BadSetting,
    ColumnMismatch,
    DifferentKinds,
    NoPValue,
    NotANumber,
    listed,
)
from suffice.estimators.randomness import random_generator
from suffice.families.normal import Normal
from suffice.rows import CATEGORY, NUMBER, read_table, read_weights, refuse_infinite
from suffice.statistics.moments import Moments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suffice.families.normal import Distances
    from suffice.rows import FloatArray

SHOWN_WIDTH = 4
"""Up to this many columns `repr` writes the numbers out."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of how a covariance was estimated: enough for exact p-values.

    With S the scatter and m the mean of rows of one normal law, a new row x has
    q = (x - m)ᵀS⁻¹(x - m) and q/(1 + h)·(ν - D + 1)/D ~ F(D, ν - D + 1), where h = 1/W is the
    variance of m in units of the law's.
    """

    weight: float
    """W; 0 for a conditional law, which has no training rows of its own."""
    divisor: float
    """By what the scatter was divided."""
    degrees: float
    """ν, the degrees of freedom of the scatter."""
    leverage: float
    """h."""

    def given(self, distance: float, rank: int) -> Evidence:
        """Return the evidence for the law of the other columns, some of rank `rank` being known.

        It is a regression's: every known direction costs a degree of freedom, and far from the
        mean the prediction is less certain, h + (x_g - m_g)ᵀS_gg⁻¹(x_g - m_g).
        """
        away = min(distance * distance / self.divisor, 1e300)  # inf / inf would be no number
        return Evidence(0.0, self.divisor, self.degrees - rank, self.leverage + away)

    def p_values(self, found: Distances, *, training: bool) -> FloatArray:
        """Return P(a row of the same law is at least as far out); NaN where rows were too few."""
        from scipy.special import betainc, betaincc

        unknown = self._unknown(found)
        rank = np.where(unknown, 0, found.rank)
        size = np.where(rank == 0, 1, rank) / 2.0
        with np.errstate(over="ignore"):
            q = np.square(found.distance) / self.divisor
        if training:
            # A row that took part in m and S cannot be far out: W/(W - 1)·q ~ Beta ≤ 1.
            edge = max(self.degrees, 0.0) / self.weight
            share = np.minimum(q, edge) / (edge or 1.0)
            spare = (self.degrees - rank) / 2.0
            tail = betaincc(size, np.where(spare > 0.0, spare, 1.0), share)
            tail = np.where(spare > 0.0, tail, 1.0)  # ν = D: every row lies at the edge
            tail = np.where(np.isinf(found.distance), 0.0, tail)
        else:
            spare = np.maximum((self.degrees - rank + 1.0) / 2.0, 0.5)
            tail = betainc(spare, size, 1.0 / (1.0 + q / (1.0 + self.leverage)))
        p = np.where(rank == 0, np.where(found.distance == 0.0, 1.0, 0.0), tail)
        return np.where(unknown, np.nan, p)

    def _unknown(self, found: Distances) -> NDArray[np.bool_]:
        """Say for which rows there is no p-value, and warn.

        Fewer directions than columns may be a fact about the law or about the number of
        rows. It is the law's only if there were rows enough to show more.
        """
        starved = (found.rank < found.observed) & (found.rank >= self.degrees)
        short = (found.observed > 0) & (found.rank > self.degrees)
        unknown: NDArray[np.bool_] = starved | short
        if unknown.any():
            most = int(found.observed[unknown].max())
            warnings.warn(
                f"{int(unknown.sum())} row(s) have no p-value: {most} columns were estimated "
                f"with {max(self.degrees, 0.0):g} degrees of freedom",
                NoPValue,
                stacklevel=4,
            )
        return unknown


class MultivariateNormal:
    """A multivariate normal law: given by its parameters, or fitted to rows.

    Rows are arrays, lists or frames; a frame's columns are matched by name. An empty cell (NaN)
    is integrated out exactly; an infinite one is refused. Covariances may be singular: the law then
    lives on a subspace, and rows off it have density 0.

    >>> law = MultivariateNormal([170, 70], [[100, 60], [60, 100]], names=["height", "weight"])
    >>> law.conditional({"height": 180})
    MultivariateNormal(mean=[76], covariance=[[64]], names=['weight'])
    >>> law.typicality([[170, 70], [190, 60]]).round(4)
    array([1.    , 0.0031])
    >>> MultivariateNormal.fit([[0.0, 1.0], [2.0, 1.0], [1.0, 4.0]])
    MultivariateNormal(mean=[1, 2], covariance=[[0.666667, 0], [0, 2]], weight=3)
    """

    def __init__(
        self, mean: ArrayLike, covariance: ArrayLike, *, names: Sequence[str] | None = None
    ) -> None:
        law = Normal(mean, covariance)  # type: ignore[arg-type]
        self._wear(law, _schema(names, law.width), None)

    def _wear(self, law: Normal, columns: Columns, evidence: Evidence | None) -> Self:
        self._law, self._columns, self._evidence = law, columns, evidence
        self.mean_ = self.mean = law.mean
        self.covariance_ = self.covariance = law.covariance
        self.n_features_in_ = law.width
        if columns.named:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        return self

    @classmethod
    def _dressed(cls, law: Normal, columns: Columns, evidence: Evidence | None) -> Self:
        return cls.__new__(cls)._wear(law, columns, evidence)

    @classmethod
    def fit(cls, X: object, sample_weight: object = None, divisor: str = "mle") -> Self:
        """Return the law of the rows' mean and covariance.

        `divisor` is "mle" (scatter / W, the most likely law) or "unbiased" (scatter / (W - 1)).
        A weight of 2 is two rows; a row of weight 0 is not looked at.

        >>> MultivariateNormal.fit([[1.0], [2.0], [3.0]], divisor="unbiased").covariance_
        array([[1.]])
        """
        if divisor not in ("mle", "unbiased"):
            raise BadSetting(f"divisor={divisor!r} is not known", hint='"mle" or "unbiased"')
        table = read_table(X)
        columns = Columns.infer(table)
        _refuse_categories(columns)
        rows = columns.encode(table, cls.__name__)
        weights = read_weights(sample_weight, table.size)
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0.0], weights[weights > 0.0]
        if _finite(rows, columns):
            moments = Moments.of(rows, weights)
        else:
            moments = _fit_with_missing(rows, weights)
        freedom = moments.weight - 1.0
        by = moments.weight if divisor == "mle" else freedom
        if by <= 0.0:
            raise BadRows(
                f"a total weight of {moments.weight:g} has no unbiased covariance",
                hint='divisor="mle", or more than one row',
            )
        law = Normal(moments.mean, moments.scatter / by)
        evidence = Evidence(moments.weight, by, freedom, 1.0 / moments.weight)
        return cls._dressed(law, columns, evidence)

    # What it says about rows

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x) of every row; -inf off the support, 0 for a row with no cell at all."""
        return self._law.log_density(self._rows(X))

    def density(self, X: object) -> FloatArray:
        """Return p(x) of every row."""
        return self._law.density(self._rows(X))

    def mahalanobis(self, X: object) -> FloatArray:
        """Return the Mahalanobis distance of every row from the mean: a distance, not its square.

        >>> MultivariateNormal([0, 0], [[4, 0], [0, 1]]).mahalanobis([[4, 0], [0, 3]])
        array([2., 3.])
        """
        return self._law.mahalanobis(self._rows(X))

    def typicality(self, X: object, *, training: bool = False) -> FloatArray:
        """Return for every row how probable it is to be at least as far from the mean.

        Given parameters: the tail of χ². Fitted ones are themselves uncertain: new rows have the
        exact predictive F, and the rows fitted to (`training=True`) a Beta, so that p-values are
        uniform however few rows there were. Exact if the rows are normal.
        """
        if not training and self._evidence is None:
            return self._law.typicality(self._rows(X))
        if self._evidence is None or (training and self._evidence.weight == 0.0):
            raise BadSetting(
                "training=True asks about rows that the law was fitted to, and this one was not "
                "fitted itself",
                hint="use typicality(X), or MultivariateNormal.fit(X).typicality(X, training=True)",
            )
        return self._evidence.p_values(self._law.distances(self._rows(X)), training=training)

    def sample(
        self,
        size: int,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> FloatArray:
        """Return `size` rows drawn from the law.

        >>> MultivariateNormal([5, 5], [[0, 0], [0, 0]]).sample(1, random_state=0)
        array([[5., 5.]])
        """
        try:
            number = operator.index(size)
        except TypeError:
            raise BadSetting(f"size={size!r} is no number of rows", hint="size=100") from None
        return self._law.sample(number, random_generator(random_state))

    # Laws made from it

    def marginal(self, columns: Sequence[str | int] | str | int) -> MultivariateNormal:
        """Return the law of some columns, by name or position, in the order asked for."""
        alone = isinstance(columns, str | int | np.integer)
        asked: list[Any] = [columns] if alone else list(columns)  # type: ignore[arg-type]
        places = [self._place(column) for column in asked]
        return self._dressed(self._law.marginal(places), self._part(places), self._evidence)

    def conditional(self, given: Mapping[Any, float]) -> MultivariateNormal:
        """Return the law of the other columns when some are known, by name or position.

        >>> law = MultivariateNormal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]])
        >>> law.conditional({0: 1.0}).mean
        array([0.8, 0. ])
        """
        if not isinstance(given, Mapping):
            raise BadSetting(
                f"given={given!r} does not say which column has which value",
                hint="a dictionary, such as {'height': 180.0} or {0: 180.0}",
            )
        known: dict[int, float] = {}
        for column, value in given.items():
            place = self._place(column)
            if place in known:
                raise ColumnMismatch(
                    f"{self._columns.names[place]} is given twice", hint="name each column once"
                )
            known[place] = _number(value, self._columns.names[place])
        if not known:
            return self
        law = self._law.conditional(known)
        others = [place for place in range(self.n_features_in_) if place not in known]
        evidence = self._evidence
        if evidence is not None:
            front = self._law.marginal(list(known))
            distance = float(front.mahalanobis([list(known.values())])[0])
            evidence = evidence.given(distance, front.rank)
        return self._dressed(law, self._part(others), evidence)

    # Its shape

    @property
    def rank(self) -> int:
        """In how many directions rows vary; less than the number of columns if degenerate."""
        return self._law.rank

    def principal_axes(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviations along the principal axes, largest first, and axes as rows.

        >>> MultivariateNormal([0, 0], [[1, 0], [0, 9]]).principal_axes()[0]
        array([3., 1.])
        """
        return self._law.principal_axes()

    def contour(
        self, *, mass: float | None = None, sigmas: float | None = None, points: int = 181
    ) -> FloatArray:
        """Return an ellipse of equal density of a law of two columns; see `Normal.contour`."""
        return self._law.contour(mass=mass, sigmas=sigmas, points=points)

    def entropy(self) -> float:
        """Return the differential entropy, in nats; -inf for a degenerate law."""
        return self._law.entropy()

    def kl_divergence(self, other: MultivariateNormal) -> float:
        """Return KL(self ‖ other) in nats; inf where the supports differ. Columns pair by name.

        >>> MultivariateNormal([0], [[1]]).kl_divergence(MultivariateNormal([3], [[1]]))
        4.5
        """
        theirs = other
        if self._columns.named and other._columns.named and self._columns != other._columns:
            if set(self._columns.names) != set(other._columns.names):
                raise DifferentKinds(
                    f"laws of {listed(self._columns.names)} and of {listed(other._columns.names)} "
                    "have no divergence",
                    hint="take the marginal of the columns they share",
                )
            theirs = other.marginal(self._columns.names)
        return self._law.kl_divergence(theirs._law)

    def __eq__(self, other: object) -> bool:
        """Whether all that is known is the same: parameters, names and how they were found."""
        if not isinstance(other, MultivariateNormal):
            return NotImplemented
        return (self._law, self._columns, self._evidence) == (
            other._law,
            other._columns,
            other._evidence,
        )

    def __hash__(self) -> int:
        return hash((self._law, self._columns, self._evidence))

    def __repr__(self) -> str:
        """Say the numbers where they are few, the size where they are many."""
        if self.n_features_in_ <= SHOWN_WIDTH:
            rows = ", ".join(_shown(row) for row in self.covariance)
            parts = [f"mean={_shown(self.mean)}", f"covariance=[{rows}]"]
        else:
            parts = [f"{self.n_features_in_} columns", f"rank {self.rank}"]
        if self._columns.named:
            names = self._columns.names
            few = len(names) <= SHOWN_WIDTH
            parts.append(f"names={list(names)}" if few else f"named {listed(names)}")
        if self._evidence is not None and self._evidence.weight > 0.0:
            parts.append(f"weight={self._evidence.weight:g}")
        return f"{type(self).__name__}({', '.join(parts)})"

    # Columns

    def _rows(self, X: object) -> NDArray[np.floating[Any]]:
        """Return rows in our columns' order; one column may also come as a plain sequence."""
        if self.n_features_in_ == 1 and getattr(X, "ndim", None) == 1:
            X = np.asarray(X)[:, np.newaxis]
        elif self.n_features_in_ == 1 and isinstance(X, list | tuple):
            X = [[cell] for cell in X] if all(np.ndim(cell) == 0 for cell in X) else X
        rows = self._columns.encode(read_table(X), type(self).__name__)
        _finite(rows, self._columns)
        return rows

    def _place(self, column: object) -> int:
        """Return the position of a column asked for by name or position."""
        names = self._columns.names
        if isinstance(column, str) and column in names:
            return names.index(column)
        place = column if isinstance(column, int | np.integer) else -1
        if 0 <= place < len(names) and not isinstance(column, bool):
            return int(place)
        raise ColumnMismatch(
            f"there is no column {column!r}", hint=f"the columns are {listed(names)}"
        )

    def _part(self, places: Sequence[int]) -> Columns:
        return Columns(tuple(self._columns.columns[place] for place in places))


def _schema(names: Sequence[str] | None, width: int) -> Columns:
    """Return columns of numbers with the names given, if any."""
    if names is None:
        return Columns((Column(None, NUMBER),) * width)
    listing = [names] if isinstance(names, str) else list(names)
    strings = all(isinstance(name, str) for name in listing)
    if len(listing) != width or not strings:
        raise BadSetting(
            f"names={listing!r} do not name {width} column(s)", hint="one string for each column"
        )
    return Columns(tuple(Column(name, NUMBER) for name in listing))


def _refuse_categories(columns: Columns) -> None:
    """Refuse columns without numbers: a normal law has none to say about them."""
    other = [
        name
        for name, column in zip(columns.names, columns.columns, strict=True)
        if column.kind == CATEGORY
    ]
    if other:
        raise NotANumber(
            f"columns of categories have no normal law: {listed(other)}",
            hint="leave them out, or code each level as a column of zeros and ones",
        )


def _finite(rows: NDArray[np.floating[Any]], columns: Columns) -> bool:
    """Say whether every cell is there; refuse infinite ones. One sum, when all is well."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return True
    refuse_infinite(rows, columns.names if columns.named else None)
    return not np.isnan(rows).any()


def _fit_with_missing(rows: NDArray[np.floating[Any]], weights: FloatArray | None) -> Moments:
    """Return the moments of rows with empty cells."""
    raise NotImplementedError("rows with missing cells cannot be fitted yet")


def _number(value: object, name: str) -> float:
    """Return a given value as a float, or refuse it by the name of its column."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise NotANumber(
            f"{name} is given as {value!r}, which is no number", hint="give a real number"
        ) from None


def _shown(numbers: FloatArray) -> str:
    return f"[{', '.join(f'{number:.6g}' for number in numbers)}]"
