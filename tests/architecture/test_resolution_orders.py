"""One base: an estimator is at most three classes of ours, and what a model lacks is not there."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import suffice
from suffice import LogisticRegression, Perceptron
from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.stored import LEARNERS, learner_named

MOST = 3
"""Classes of ours in the resolution order of an estimator: itself, its subject, the base."""
LINEAR = [LogisticRegression(1.0), Perceptron(random_state=0)]
SUMS = ("forget", "vouch", "with_priors", "statistics_", "model_", "priors_")
DENSITIES = ("log_joint", "log_density", "estimate_priors")

X = np.array([[1.0, 0.0], [2.0, 1.0], [5.0, 0.5], [6.0, 2.0], [3.0, 3.0], [4.0, 0.0]])
y = np.array(list("aabbab"))


def estimators() -> dict[str, type]:
    """Return the estimators that are public."""
    public = {name: getattr(suffice, name) for name in suffice.__all__}
    kinds = {name: one for name, one in public.items() if inspect.isclass(one)}
    return {name: kind for name, kind in kinds.items() if issubclass(kind, BaseEstimator)}


@pytest.mark.parametrize("name", sorted(estimators()))
def test_an_estimator_is_at_most_three_classes_of_ours(name: str) -> None:
    order = estimators()[name].__mro__
    ours = [kind.__name__ for kind in order if kind.__module__.startswith("suffice.")]
    assert len(ours) <= MOST, ours


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_classifier_stands_on_the_one_base_and_has_the_settings_of_its_learner(
    name: str,
) -> None:
    kind = estimators()[name]
    assert issubclass(kind, StatisticsClassifier)
    assert kind.learner_kind is type(learner_named(name))
    assert set(kind().get_params(deep=False)) == set(learner_named(name).settings())
    assert kind().as_learner().key == learner_named(name).key


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("what", SUMS + DENSITIES)
def test_what_a_linear_classifier_lacks_is_no_attribute(model: StatisticsClassifier, what: str):
    fitted = model.fit(X, y)
    assert not hasattr(fitted, what)
    with pytest.raises(AttributeError, match=r"has no .*\nHint: "):
        getattr(fitted, what)


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_linear_classifiers_are_no_sums(model: StatisticsClassifier) -> None:
    fitted = model.fit(X, y)
    for add in (lambda: fitted + fitted, lambda: sum([fitted])):
        with pytest.raises(TypeError, match="unsupported operand"):
            add()
    learned = fitted.learned_
    for work in (lambda: learned + learned, lambda: learned - learned):
        with pytest.raises(TypeError, match="unsupported operand"):
            work()
    assert not learned.offers("gone_with")


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_a_learner_learns_what_its_estimator_does(model: StatisticsClassifier) -> None:
    learner = model.as_learner()
    learned = learner.learned(learner.read(X, y))
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(learned.decisions(X), fitted.decision_function(X))
    np.testing.assert_array_equal(learned.predict(X), fitted.predict(X))
    more = learned.more(learner.read(X[::-1], y[::-1], None, learned))
    before = learned.decisions(X)
    fitted.partial_fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(more.decisions(X), fitted.decision_function(X))
    np.testing.assert_array_equal(learned.decisions(X), before)  # never changed in place
