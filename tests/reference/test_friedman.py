"""Friedman's six settings: covariance="auto" has no higher error than his method."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from suffice.errors import DegenerateData
from suffice.models.gaussian.auto_covariance import choose
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from tests.reference.friedman import KNOWN, allowed, draw, errors, population

DRAWS = 6


@pytest.mark.parametrize(("setting", "width"), [cell for cell in KNOWN if cell[1] in (6, 20)])
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_auto_is_as_good_as_regularized_discriminant_analysis(setting: int, width: int) -> None:
    found = errors(setting, width, DRAWS)
    # The spread over few draws is itself uncertain: that of the binomial is the least it can be.
    error = max(float(found.mean()), 0.01)
    spread = max(float(found.std(ddof=1)), np.sqrt(error * (1.0 - error) / 100.0))
    bound = max(allowed(setting, width, spread / np.sqrt(DRAWS)), KNOWN[setting, width][0] + 0.05)
    if setting == 4 and width >= 20:  # the allowance there is for the mean of many draws
        bound += 4.0 * spread / np.sqrt(DRAWS)
    assert found.mean() <= bound


def test_settings_are_drawn_as_described() -> None:
    means, variances = population(3, 10)
    np.testing.assert_allclose(variances[0][[0, -1]], (1.0, 100.0))
    np.testing.assert_allclose(means[1, 0], 2.5 * np.sqrt(1 / 10) * 9 / 4)
    np.testing.assert_allclose(means[1] ** 2, means[2] ** 2)
    means, variances = population(6, 10)
    np.testing.assert_allclose(variances[0], variances[1][::-1])
    np.testing.assert_allclose(np.abs(means[1:]), 14.0 / np.sqrt(10.0))


@pytest.mark.parametrize("width", [6, 20])
def test_candidates_are_judged_by_exact_leave_one_out(width: int) -> None:
    """What decides is what `leave_one_out` says of a model with those settings."""
    X, y, _, _ = draw(2, width, np.random.default_rng(width))
    learner = GaussianLearner(Gaussian("per-class"))
    labels = (0, 1, 2)
    fit = learner.fit(learner.summarize(X, y, labels))
    chosen, judged = choose(fit.summary, X, y, None, None, "mle")
    assert len(judged) == 5 * (4 * 2 + 1)
    losses = [loss for _, loss in judged]
    assert judged[int(np.argmin(losses))][0] == chosen
    for family, loss in judged[::4]:
        model = GaussianDiscriminant(
            "per-class", pool=family.pool, shrink=family.shrink, shrink_target=family.shrink_target
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateData)
            model.fit(X, y)
        if family.shrink:  # unshrunk ones stand on floors, which are held fixed in judging
            assert loss == pytest.approx(model.leave_one_out(X, y).log_loss, rel=1e-8)
