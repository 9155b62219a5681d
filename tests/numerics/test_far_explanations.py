"""Explanations of rows however far out: never NaN, and right where a double can hold them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import BadRows, BadSetting
from tests.searches import examples

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 3)) * (1 + Y[:, np.newaxis]) + Y[:, np.newaxis]

MODELS: dict[str, Any] = {
    **{
        form: GaussianDiscriminant(form).fit(X, Y)
        for form in ("shared", "per-class", "diagonal", "shared-diagonal", "spherical")
    },
    "pooled": GaussianDiscriminant("per-class", pool=0.5, shrink=0.2).fit(X, Y),
    "naive Bayes": NaiveBayes("gaussian").fit(X, Y),
    "naive Bayes, shared": NaiveBayes("shared-gaussian").fit(X, Y),
}
cells = st.one_of(
    st.just(float("nan")),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e153, -1e154, 1e155, -1e200, 1e300, -1.7e308, 1.7e308]),
)


@pytest.mark.parametrize("name", MODELS)
@examples(12)
@given(st.lists(cells, min_size=3, max_size=3))
def test_explanations_are_never_nan(name: str, row: list[float]) -> None:
    model = MODELS[name]
    rows = np.array([row])
    try:
        found = model.explain(rows)
    except (BadRows, BadSetting):  # parts for and against, both beyond all numbers
        assert np.nanmax(np.abs(rows)) > 1e140
        return
    for part in (found.baseline, found.contributions, found.log_odds, found.pairs):
        assert part is None or not np.isnan(part).any()
    assert found.log_odds[0] >= -1e-9  # the likeliest class against the runner-up


@pytest.mark.parametrize("far", [1e120, 1e150, 1e153, 1e155, 1e170, 1e250])
def test_differences_of_squares_are_right_wherever_they_can_be_held(far: float) -> None:
    """Two classes of nearly the same variance: the difference fits where its terms do not."""
    y = np.repeat([0, 1], 50)
    x = np.tile(np.linspace(-1.0, 1.0, 50), 2)[:, np.newaxis]
    x[50:] *= 1.0 + 1e-12
    model = GaussianDiscriminant("diagonal").fit(x, y)
    found = model.explain(np.array([[far]]), of=1, against=0).contributions[0, 0]
    law = model.model_.densities
    z = (Fraction(far) - Fraction(law.origin[0]) - Fraction(law.origin_low[0])) / Fraction(
        law.scale[0]
    )
    terms = [
        ((z - Fraction(law.means[c, 0])) / Fraction(law.deviations[c, 0])) ** 2 for c in (0, 1)
    ]
    expected = (terms[0] - terms[1]) / 2
    if abs(expected) > Fraction(1.7e308):
        assert found == np.inf
    else:
        assert found == pytest.approx(float(expected), rel=1e-3)
