"""Friedman's six settings: covariance="auto" errs no more than his method."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.friedman import KNOWN, allowed, errors, population

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
