"""What linear classifiers show, however their weights were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.estimators.statistics_classifier import StatisticsClassifier

if TYPE_CHECKING:
    from suffice.learning.learners.linear import LearnedLine
    from suffice.learning.results import Contrasts, Explanation
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, Label


class LinearClassifier(StatisticsClassifier):
    """Scores weights·x + intercept, one for each class.

    `coef_` and `intercept_` are in the user's units: one row for two classes (the second against
    the first), else one row a class that adds up to zero over the classes, as scikit-learn has it.
    """

    if TYPE_CHECKING:

        def _now(self) -> LearnedLine[Any]: ...

    def _lean(self, X: object) -> None:
        """Nothing is made ready for single rows: a product of them is soon done."""

    @property
    def coef_(self) -> FloatArray:
        """The weights of the columns, (1, d) for two classes, else (k, d)."""
        weights = self._attribute("coef_").weights
        if len(weights) == 2:
            return weights[1:] - weights[:1]
        found: FloatArray = weights - weights.mean(axis=0)
        return found

    @property
    def intercept_(self) -> FloatArray:
        """The scores at x = 0, (1,) for two classes, else (k,)."""
        at_zero = self._attribute("intercept_").intercepts
        if len(at_zero) == 2:
            return at_zero[1:] - at_zero[:1]
        # A class of prior zero is at -inf, and takes no part in the mean.
        found: FloatArray = at_zero - at_zero[np.isfinite(at_zero)].mean()
        return found

    @property
    def coefficient_names_(self) -> tuple[str, ...]:
        """The names of the columns of `coef_`: "age", "color=red"."""
        return self._now().design.names

    def _attribute(self, name: str) -> LinearForm:
        """Return the linear form for an attribute: what has none has no such attribute either."""
        try:
            return self._now().linear(name)
        except BadSetting as error:
            raise AttributeError(str(error)) from None

    def against(self, reference: Label | None = None) -> Contrasts:
        """Return θ and θ₀ of every other class against one (the first, unless named)."""
        return self._now().against(reference)

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the score of one class against another by column, row by row.

        Each column is compared with its mean among the rows of the fit: the baseline is the score
        of a row that is average everywhere. By default the predicted class is compared with the
        runner-up; `of` and `against` name others.
        """
        return self._now().explain(X, of, against)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows may come."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
