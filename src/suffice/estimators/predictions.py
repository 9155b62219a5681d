"""Posteriors and densities of whatever was learned: Bayes' rule, asked about rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotFinite
from suffice.estimators.accuracy import Accuracy
from suffice.estimators.batches import FLOAT64, naming_cells
from suffice.estimators.learned import Learned, kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

    T = TypeVar("T")

    class Lean(Protocol):
        """A model made ready for single rows of float64; None is no answer: take the usual way."""

        def predict(self, row: FloatArray) -> NDArray[Any] | None: ...  # noqa: D102
        def posterior(self, row: FloatArray) -> FloatArray | None: ...  # noqa: D102


class Predictions(Accuracy, Learned):
    """Bayes' rule, asked about rows; one row of floats has a way of its own."""

    # What a kind of model says about rows

    @abstractmethod
    def _rows(self, X: object) -> Any:
        """Return rows coded as at fit."""

    def _one_row(self) -> Lean | None:
        """Return the model made ready for single rows, or None where that does not pay."""
        return None

    def _asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self._rows(X)
        try:
            return answer(rows)
        except NotFinite as error:
            raise naming_cells(error, rows, self._require().columns) from None

    # Posteriors

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        lean = self._lean(X)
        answer = None if lean is None else lean.predict(X)  # type: ignore[arg-type]
        if answer is not None:
            return answer
        whole = self._whole()
        model, classes = whole._fit.model, whole.classes_
        return whole._asked(X, lambda rows: model.chosen(rows, classes))

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        lean = self._lean(X)
        answer = None if lean is None else lean.posterior(X)  # type: ignore[arg-type]
        if answer is not None:
            return answer
        whole = self._whole()
        posterior: Callable[[Any], FloatArray] = whole._fit.model.posterior
        return whole._asked(X, posterior)

    def _lean(self, X: object) -> Lean | None:
        """The model made ready for single rows, if X is one, under the settings of this moment."""
        if not (type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and X.dtype is FLOAT64):
            return None
        # A call less here is a fiftieth of a prediction.
        state = self._state if self._waiting is None else self._known()
        if state is None:
            return None
        key = self._settings_key()
        held, ready = state.lean
        try:
            if held == key:
                return ready  # type: ignore[no-any-return]
        except ValueError:
            pass  # as in `unchanged`
        ready = self._with_state(state)._one_row()  # whatever is learned meanwhile
        state.lean = (kept(key), ready)
        return ready

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x); far away it stays finite and ordered."""
        whole = self._whole()
        posterior: Callable[..., FloatArray] = whole._fit.model.posterior
        return whole._asked(X, lambda rows: posterior(rows, log=True))

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
        whole = self._whole()
        log_joint: Callable[[Any], FloatArray] = whole._fit.model.log_joint
        return whole._asked(X, log_joint)

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x), the evidence."""
        whole = self._whole()
        log_density: Callable[[Any], FloatArray] = whole._fit.model.log_density
        return whole._asked(X, log_density)
