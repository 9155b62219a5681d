"""Perceptron: a flat boundary that moves only where it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from suffice.estimators.fitting_notes import offered
from suffice.estimators.linear.linear_classifier import LinearClassifier
from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.perceptron import PerceptronLearner

if TYPE_CHECKING:
    from suffice.learning.learner import Learner
    from suffice.learning.learners.perceptron import LearnedPerceptron


class Perceptron(LinearClassifier):
    """The perceptron, averaged: it goes through the rows until none is on the wrong side.

    A row that is wrong adds itself to θ of its own class and takes itself from that of the class
    that won: of two classes, θ := θ + (y - h(x))x with h(x) 0 or 1. Columns are standardised
    inside, so that units do not matter; coefficients are in the user's units. Where a plane can
    separate the classes it finds one, and says how far the nearest row is from it. Where none can
    it goes round for all epochs, and the mean is a fair answer. Scores are not log odds.

    Parameters
    ----------
    epochs : int, default 100
        How often to go through all rows, at most.
    average : bool, default True
        Answer by the mean of θ over all rows of all epochs; False: by the last θ.
    shuffle : bool, default True
        Draw the order of the rows anew for each epoch.
    random_state : int or Generator, optional
        What orders are drawn from.

    See Also
    --------
    LogisticRegression : Fits p(y | x) directly, without a law of x.

    Examples
    --------
    >>> X, y = [[1.0, 5.0], [2.0, 4.0], [5.0, 2.0], [6.0, 1.0]], ["low", "low", "high", "high"]
    >>> model = Perceptron(random_state=0).fit(X, y)
    >>> print(*model.predict([[1.5, 4.5], [7.0, 0.0]]))
    low high
    >>> model.separated_, model.n_updates_
    (True, 2)
    """

    learner_kind: ClassVar[type[Learner]] = PerceptronLearner

    if TYPE_CHECKING:

        def _now(self) -> LearnedPerceptron: ...

    def __init__(
        self,
        *,
        epochs: int = 100,
        average: bool = True,
        shuffle: bool = True,
        random_state: object = None,
    ) -> None:
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # type: ignore[override]
        """Learn from rows and labels, forgetting everything learned before.

        A weight of 2 is two rows. The order in which rows are given makes no difference, unless
        `shuffle=False`.
        """
        return self._fit_here(self.as_learner(), X, y, sample_weight)

    def partial_fit(  # type: ignore[override]
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Go through more rows, once; `classes` is accepted and never needed.

        A label never seen before is a new class. Columns are on the scale of all rows so far.
        Nobody knows whether all of them are separated, for they are gone: `separated_` is None.
        """
        return self._learn_more(X, y, sample_weight, here=True)

    predict_proba = offered("predict_proba")(StatisticsClassifier.predict_proba)
    predict_log_proba = offered("predict_log_proba")(StatisticsClassifier.predict_log_proba)

    @property
    def n_updates_(self) -> int:
        """How many mistakes were corrected, over all epochs."""
        return self._now().outcome.updates

    @property
    def n_epochs_(self) -> int:
        """How often it went through the rows; a call of `partial_fit` counts once."""
        return self._now().outcome.epochs

    @property
    def separated_(self) -> bool | None:
        """Whether every row of the fit is on its own side; None after `partial_fit`."""
        return self._now().outcome.separated

    @property
    def margin_(self) -> float | None:
        """How far the nearest row is from the boundary, in standard deviations of the columns.

        None where rows are not separated, or not known to be.
        """
        return self._now().outcome.margin
