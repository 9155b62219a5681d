"""MultivariateNormal: a normal law with the names of its columns, given or fitted."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns import Columns
from suffice.columns.schema import first_names
from suffice.errors import (
    BadFile,
    BadSetting,
    DegenerateData,
    DifferentKinds,
    listed,
    warn,
)
from suffice.estimators.multivariate_normal_columns import (
    check_infinite,
    given_values,
    part,
    place,
    places,
    refuse_categories,
    schema,
)
from suffice.learning.randomness import random_generator
from suffice.learning.stored import saving
from suffice.models.gaussian.law.normal import Normal
from suffice.models.gaussian.normal_fit import (
    check_divisor,
    degeneracy,
    fit_normal,
    fit_normal_around,
)
from suffice.rows import read_table, read_weights
from suffice.storage.model_file import StoredModel, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from suffice.models.gaussian.normal_fit import Evidence
    from suffice.rows import FloatArray


SHOWN_WIDTH = 4
"""Up to this many columns `repr` writes the numbers out."""


class MultivariateNormal:
    """A multivariate normal law: given by its parameters, or fitted to rows.

    Rows are arrays, lists or frames; a frame's columns are matched by name. An empty cell (NaN)
    is integrated out exactly; an infinite one is refused. Covariances may be singular: the law then
    lives on a subspace, and rows off it have density 0.

    Parameters
    ----------
    mean : ArrayLike
        The mean (d,).
    covariance : ArrayLike
        The covariance (d, d), symmetric and positive semi-definite.
    names : Sequence[str], optional
        The names of the columns; None is x0, x1, ….

    See Also
    --------
    GaussianDiscriminant : One normal law for each class; LDA and QDA are two of its settings.

    Examples
    --------
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
        self._wear(law, schema(names, law.width), None)

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
    def fit(
        cls,
        X: object,
        sample_weight: object = None,
        divisor: str = "mle",
        *,
        mean: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
    ) -> Self:
        """Return the law of the rows' mean and covariance.

        `divisor` is "mle" (scatter / W, the most likely law) or "unbiased" (scatter / (W - 1)).
        A weight of 2 is two rows; a row of weight 0 is not looked at. Missing cells are legal: the
        law is then the most likely one given the cells that are there (EM), rows without any
        cell count for nothing, and p-values are approximate, for they take the rows as complete.
        Constant or collinear columns leave a degenerate law, and a warning that names them.

        With `mean` (d,) the covariance is that about the given mean, with `covariance` (d, d) only
        the mean is estimated; p-values then are exact for that. Rows have to be complete.

        >>> MultivariateNormal.fit([[1.0], [2.0], [3.0]], divisor="unbiased").covariance_
        array([[1.]])
        >>> MultivariateNormal.fit([[1.0], [2.0], [3.0]], mean=[0.0]).covariance_.round(4)
        array([[4.6667]])
        """
        check_divisor(divisor)
        if mean is not None and covariance is not None:
            raise BadSetting(
                "mean and covariance are both given: there is nothing left to fit",
                hint="use MultivariateNormal(mean, covariance)",
            )
        table = read_table(X)
        columns = Columns.infer(table)
        refuse_categories(columns)
        rows = columns.encode(table, cls.__name__)
        weights = read_weights(sample_weight, table.size)
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0.0], weights[weights > 0.0]
        names = places(columns)
        check_infinite(rows, names)
        if mean is None and covariance is None:
            law, evidence = fit_normal(rows, weights, divisor, names)
        else:
            law, evidence = fit_normal_around(
                rows, weights, names, mean=mean, covariance=covariance
            )
        if (reason := degeneracy(law, evidence, names)) is not None:
            warn(reason, DegenerateData)
        return cls._dressed(law, columns, evidence)

    # On disk

    def save(self, path: str | Path) -> None:
        """Write the law to a file, whole or not at all; `suffice.load` reads it.

        >>> import tempfile, suffice
        >>> place = tempfile.mkdtemp() + "/law.suffice"
        >>> MultivariateNormal([1, 2], [[4, 1], [1, 9]], names=["a", "b"]).save(place)
        >>> suffice.load(place)
        MultivariateNormal(mean=[1, 2], covariance=[[4, 1], [1, 9]], names=['a', 'b'])
        """
        state = stored_law(self._law, self._columns, self._evidence)
        about = {"model": type(self).__name__, "columns": first_names(self._columns)}
        with saving(path):
            write_model(path, StoredModel(type(self).__name__, {}, state, about))

    @classmethod
    def of_stored(cls, stored: StoredModel) -> Self:
        """Return the law that a file holds."""
        return cls._dressed(*restored_law(stored.state))

    # What it says about rows

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x) of every row; -inf off the support, 0 for a row with no cell at all."""
        return self._law.log_density(self._rows(X))

    def density(self, X: object) -> FloatArray:
        """Return p(x) of every row."""
        return self._law.density(self._rows(X))

    def cdf(self, X: object) -> FloatArray:
        """Return for every row the probability that a draw is at most as large in every column.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            A cell that is NaN may be anything: its column is left out.

        Returns
        -------
        ndarray of shape (n,)
            Exact for one column; for more, numerical integration within about 1e-5.

        Examples
        --------
        >>> MultivariateNormal([0, 0], [[1, 0], [0, 4]]).cdf([[0, 0], [0, float("nan")]]).round(4)
        array([0.25, 0.5 ])

        """
        return self._law.cdf(self._rows(X))

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
                "training=True is for rows that the distribution was fitted to, and this one was "
                "not fitted itself",
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
            raise BadSetting(f"size={size!r} is not a number of rows", hint="size=100") from None
        return self._law.sample(number, random_generator(random_state))

    # Laws made from it

    def marginal(self, columns: Sequence[str | int] | str | int) -> MultivariateNormal:
        """Return the law of some columns, by name or position, in the order asked for."""
        alone = isinstance(columns, str | int | np.integer)
        asked: list[object] = [columns] if alone else list(columns)  # type: ignore[arg-type]
        chosen = [place(self._columns, column) for column in asked]
        return self._dressed(
            self._law.marginal(chosen), part(self._columns, chosen), self._evidence
        )

    def conditional(self, given: Mapping[object, float]) -> MultivariateNormal:
        """Return the law of the other columns when some are known, by name or position.

        >>> law = MultivariateNormal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]])
        >>> law.conditional({0: 1.0}).mean
        array([0.8, 0. ])
        """
        known = given_values(self._columns, given)
        if not known:
            return self
        law = self._law.conditional(known)
        others = [j for j in range(self.n_features_in_) if j not in known]
        evidence = self._evidence
        if evidence is not None:
            front = self._law.marginal(list(known))
            distance = float(front.mahalanobis([list(known.values())])[0])
            evidence = evidence.given(distance, front.rank)
        return self._dressed(law, part(self._columns, others), evidence)

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
                    f"distributions of {listed(self._columns.names)} and of "
                    f"{listed(other._columns.names)} "
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

    def _rows(self, X: object) -> NDArray[np.floating]:
        """Return rows in our columns' order; one column may also come as a plain sequence."""
        if self.n_features_in_ == 1 and getattr(X, "ndim", None) == 1:
            X = np.asarray(X)[:, np.newaxis]
        elif self.n_features_in_ == 1 and isinstance(X, list | tuple):
            X = [[cell] for cell in X] if all(np.ndim(cell) == 0 for cell in X) else X
        rows = self._columns.encode(read_table(X), type(self).__name__)
        check_infinite(rows, places(self._columns))
        return rows


def _shown(numbers: FloatArray) -> str:
    return f"[{', '.join(f'{number:.6g}' for number in numbers)}]"


def stored_law(law: Normal, columns: Columns, evidence: Evidence | None) -> dict[str, object]:
    """Return a law by parts.

    Its spread goes along: of a marginal or conditional law it is known better than the covariance
    tells, and the same numbers have to come back.
    """
    return {
        "columns": columns,
        "statistics": None,
        "evidence": evidence,
        "model": law,
        "spread": law.spread,
    }


def restored_law(state: Mapping[str, Any]) -> tuple[Normal, Columns, Evidence | None]:
    """Return the law of a file that was found sound."""
    law = state["model"]
    if not isinstance(law, Normal):
        raise BadFile("the file has no normal distribution", hint="it is damaged: write it again")
    return (
        Normal.of_parts(law.mean, law.covariance, state["spread"]),
        state["columns"],
        state["evidence"],
    )
