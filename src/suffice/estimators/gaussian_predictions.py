"""Posteriors and densities of a fitted Gaussian discriminant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from suffice.errors import NotFinite
from suffice.estimators.gaussian_parameters import GaussianParameters
from suffice.estimators.incremental import naming_cells
from suffice.models.one_row import OneRow, one_row
from suffice.rows import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

    T = TypeVar("T")

FLOAT64 = np.dtype(np.float64)


class GaussianPredictions(GaussianParameters):
    """Bayes' rule, asked about rows; one row of floats has a way of its own."""

    def _rows(self, X: object) -> FloatArray:
        """Return rows coded as at fit; float32 rows stay float32, whatever the type says."""
        rows = self._require().columns.encode(read_table(X), type(self).__name__)
        return cast("FloatArray", rows)

    def _asked(self, X: object, answer: Callable[[NDArray[Any]], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self._rows(X)
        try:
            return answer(rows)
        except NotFinite as error:
            raise naming_cells(error, rows, self._require().columns) from None

    # Posteriors

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        if type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and X.dtype is FLOAT64:
            lean = self._lean()
            if lean is not None:
                answer = lean.predict(X)
                if answer is not None:
                    return answer
        model = self._fit.model
        found: NDArray[Any] = self.classes_[self._asked(X, model.codes)]
        return found

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        if type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and X.dtype is FLOAT64:
            lean = self._lean()
            if lean is not None:
                answer = lean.posterior(X)
                if answer is not None:
                    return answer
        return self._asked(X, self._fit.model.posterior)

    def _lean(self) -> OneRow | None:
        """The model made ready for single rows, under the settings of this moment."""
        state = self.__dict__.get("_state")
        if state is None:
            return None
        key = (
            self.covariance,
            self.pool,
            self.shrink,
            self.shrink_target,
            self.divisor,
            self.priors,
        )
        held, ready = state.lean
        if held == key:
            return ready  # type: ignore[no-any-return]
        model = self._fit.model
        priors = None if self.priors is None else dict(self.priors)
        ready = one_row(model, self.classes_) if state.columns.is_plain else None
        state.lean = ((*key[:-1], priors), ready)
        return ready

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x); far away it stays finite and ordered."""
        model = self._fit.model
        return self._asked(X, lambda rows: model.posterior(rows, log=True))

    def decision_function(self, X: object) -> FloatArray:
        """Return the log odds of the second class against the first, or scores (n, k).

        With more than two classes the scores are log p(y | x): differences are log odds.
        """
        log_posterior = self.predict_log_proba(X)
        if log_posterior.shape[1] != 2:
            return log_posterior
        with np.errstate(invalid="ignore"):
            odds: FloatArray = log_posterior[:, 1] - log_posterior[:, 0]
        return odds

    # Densities

    def log_joint(self, X: object) -> FloatArray:
        """Return log p(x, y), one column a class."""
        return self._asked(X, self._fit.model.log_joint)

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x), the evidence."""
        return self._asked(X, self._fit.model.log_density)
