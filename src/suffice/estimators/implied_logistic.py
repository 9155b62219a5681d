"""The logistic model that a generative one implies, as a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.estimators.linear_classifier import Line
from suffice.estimators.logistic_regression import LogisticRegression

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns.design import Design
    from suffice.models.linear.form import LinearForm


def implied_logistic(
    form: LinearForm,
    classes: NDArray[Any],
    design: Design,
    reader: Callable[[object], Any] | None = None,
) -> LogisticRegression:
    """Return a LogisticRegression with the θ of a form that Bayes' rule arrived at.

    Where log p(x | y) is linear in x but for what all classes share, Bayes' rule gives
    p(y = 1 | x) = 1/(1 + exp(-(θ·x + θ₀))) exactly. `reader` turns X into what θ multiplies.
    """
    model = LogisticRegression()
    model._become(Line(form, classes, design, reader))
    return model
