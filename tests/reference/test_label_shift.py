"""New priors: unbiased estimates, and intervals that count both samples."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from tests.reference.label_shift import coverage, mean_estimate, rows

DRAWS = 60


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_estimates_are_right_on_average(prior: float) -> None:
    assert abs(mean_estimate(prior, 40) - prior) <= 0.01


@pytest.mark.parametrize("form", ["shared", "per-class"])
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_intervals_cover_the_truth_as_often_as_they_say(prior: float, form: str) -> None:
    """Of 60 draws at .91 or more, 46 or fewer would hold the truth once in 3,000 times."""
    assert coverage(prior, DRAWS, form=form) > 46


def test_a_class_that_is_gone_does_not_blur_the_others() -> None:
    rng = np.random.default_rng(6)
    known = np.arange(300) % 3
    X = rows(known, rng)
    new = rows((np.arange(1000) < 300).astype(np.intp), rng)
    three = GaussianDiscriminant().fit(X, known).estimate_priors(new)
    two = GaussianDiscriminant().fit(X[known < 2], known[known < 2]).estimate_priors(new)
    if three.priors[2] > 1e-6:
        pytest.fail(f"the draw was meant to have no third class: {three.priors}")
    low, high = three.intervals[2]
    assert low == 0.0
    assert 0.0 < high < 0.05
    assert three.standard_errors[2] == 0.0
    for c in (0, 1):
        assert three.standard_errors[c] == pytest.approx(two.standard_errors[c], rel=0.1)
        inside, outside = three.intervals[c]
        assert inside <= (0.7, 0.3)[c] <= outside


def test_one_class_alone_has_a_one_sided_interval() -> None:
    rng = np.random.default_rng(11)
    known = np.arange(200) % 2
    X = rows(known, rng) * 1.0
    X[:, 0] += 8.0 * known
    model = GaussianDiscriminant().fit(X, known)
    found = model.estimate_priors(X[known == 0])
    assert found.priors[0] == pytest.approx(1.0)
    low, high = found.intervals[0]
    assert high == 1.0
    # No second class among 100 rows: with 95 % confidence at most about 1.35 of them.
    assert 1.0 - low == pytest.approx(1.3527 / 100.0, rel=0.02)
    assert found.intervals[1] == pytest.approx((0.0, 1.0 - low))


def test_three_classes_with_missing_cells() -> None:
    rng = np.random.default_rng(21)
    known = np.arange(600) % 3
    X = rows(known, rng)
    truth = np.array([0.2, 0.5, 0.3])
    new = rows(rng.choice(3, size=3000, p=truth), rng)
    full = GaussianDiscriminant().fit(X, known).estimate_priors(new)
    for table in (X, new):
        table[rng.random(table.shape) < 0.2] = np.nan
    holed = GaussianDiscriminant().fit(X, known).estimate_priors(new)
    assert sum(holed.priors.values()) == pytest.approx(1.0)
    for c in range(3):
        assert abs(holed.priors[c] - truth[c]) < 4.0 * holed.standard_errors[c]
        # Fewer cells, less certainty.
        assert holed.standard_errors[c] > full.standard_errors[c]


def test_densities_given_exactly_leave_only_sampling() -> None:
    """With ever more training rows the standard error tends to that of the new rows alone."""
    rng = np.random.default_rng(4)
    new = rows((rng.random(1000) < 0.4).astype(np.intp), rng)
    errors = []
    for n in (200, 2_000, 200_000):
        known = np.arange(n) % 2
        model = GaussianDiscriminant().fit(rows(known, rng), known)
        errors.append(model.estimate_priors(new).standard_errors[1])
    assert errors[0] > errors[1] > errors[2]
    # Labels themselves would leave √(.4·.6/1000) = .0155.
    assert 0.0155 < errors[2] < 0.03
