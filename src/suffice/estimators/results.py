"""What estimators answer besides arrays: explanations, implied logistic models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import BadSetting
from suffice.rows import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.linear import LinearForm
    from suffice.rows import FloatArray

Reasons: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Log odds split by column: `log_odds = baseline + contributions.sum(axis=1)`.

    of, against     the two classes compared, for each row
    baseline        the log odds before any column is looked at: prior odds and volumes
    contributions   (rows, columns), one-hot columns added up for the column they code
    pairs           (rows, columns, columns) for quadratic boundaries, else None; symmetric,
                    its rows add up to the contributions
    columns         the names of the columns
    """

    of: NDArray[Any]
    against: NDArray[Any]
    baseline: FloatArray
    contributions: FloatArray
    pairs: FloatArray | None
    columns: tuple[str, ...]

    @property
    def log_odds(self) -> FloatArray:
        """What the parts add up to."""
        total: FloatArray = self.baseline + self.contributions.sum(axis=1)
        return total

    def __str__(self) -> str:
        """Return the first rows as text, the largest contributions first."""
        lines = []
        for i in range(min(5, len(self.of))):
            lines.append(
                f"row {i}: log odds of {self.of[i]} against {self.against[i]} "
                f"{self.log_odds[i]:+.3f} = {self.baseline[i]:+.3f}"
            )
            parts = self.contributions[i]
            largest = np.argsort(-np.abs(parts), kind="stable")[:10]
            lines += [
                f"    {parts[j]:+10.3f}  {self.columns[j]}" for j in largest if parts[j] != 0.0
            ]
        return "\n".join(lines)

    def reasons(self, row: int = 0, most: int = 5) -> tuple[Reasons, Reasons]:
        """Return the strongest reasons of one row for its class, and those against it.

        Each is a list of (column, log odds), the strongest first; for counts of words the
        columns are the words.
        """
        if not -len(self.of) <= row < len(self.of):
            raise BadSetting(
                f"there is no row {row} among {len(self.of)} explained",
                hint="rows are counted from 0, in the order they were given",
            )
        parts = self.contributions[row]
        order = np.argsort(-parts, kind="stable")
        top = [(self.columns[j], float(parts[j])) for j in order[:most] if parts[j] > 0.0]
        low = [(self.columns[j], float(parts[j])) for j in order[::-1][:most] if parts[j] < 0.0]
        return top, low


class ImpliedLogistic:
    """The logistic (softmax) model that a generative one implies.

    Where log p(x | y) is linear in x but for what all classes share (a shared covariance;
    Bernoulli, multinomial and Poisson columns), Bayes' rule gives
    p(y = 1 | x) = 1/(1 + exp(-(θ·x + θ₀))) exactly.
    `coef_` and `intercept_` are θ and θ₀ in the user's units: one row for two classes (the
    second against the first), else one row for each class but the reference.

    classes_        all classes; reference_ the one the others are compared with
    compared_       the class that each row of `coef_` speaks of
    """

    def __init__(
        self,
        form: LinearForm,
        classes: NDArray[Any],
        reference: int,
        columns: Any,
        rows: Callable[[object], Any] | None = None,
    ) -> None:
        self._columns = columns
        self._read = rows
        self._form = form.against(form.labels[reference])
        others = [c for c in range(len(classes)) if c != reference]
        self.classes_ = classes
        self.reference_ = classes[reference]
        self.compared_ = classes[others]
        self.coef_ = self._form.weights[others]
        self.intercept_ = self._form.intercepts[others]
        self.n_features_in_ = len(columns.columns)
        self.feature_names_out_ = columns.coded_names if rows is None else columns.names

    def decision_function(self, X: object) -> FloatArray:
        """Return log odds against the reference: (n,) for two classes, else (n, k)."""
        scores = self._form.scores(self._rows(X))
        if len(self.classes_) == 2:
            (other,) = (c for c in range(2) if self.classes_[c] != self.reference_)
            return np.ascontiguousarray(scores[:, other])
        return scores

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x), one column a class."""
        return self._form.log_posterior(self._rows(X))

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        found: NDArray[Any] = self.classes_[self._form.codes(self._rows(X))]
        return found

    def _rows(self, X: object) -> Any:
        if self._read is not None:
            return self._read(X)
        return self._columns.encode(read_table(X), type(self).__name__).astype(np.float64)

    def __repr__(self) -> str:
        """Show what is compared with what."""
        return f"ImpliedLogistic(coef_={self.coef_.shape}, reference_={self.reference_!r})"
