"""Wald's figures and goodness of fit: against SciPy and statsmodels, and at every limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suffice.errors import BadSetting
from suffice.models.linear.logistic.inference import FitFigures, checked_level, wald


def test_wald_figures_are_those_of_the_normal_distribution() -> None:
    b, v = np.array([0.5, -2.0, 0.0]), np.array([0.04, 1.0, 9.0])
    z, p, low, high = wald(b, v, level=0.9)
    normal = stats.norm(b, np.sqrt(v))
    np.testing.assert_allclose(z, [2.5, -2.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(p, 2.0 * stats.norm.sf(np.abs(z)), rtol=1e-14)
    np.testing.assert_allclose(low, normal.ppf(0.05), rtol=1e-13)
    np.testing.assert_allclose(high, normal.ppf(0.95), rtol=1e-13)


def test_small_p_values_do_not_cancel() -> None:
    p = wald([20.0, -37.0, 1e200], [1.0, 1.0, 1.0]).p
    np.testing.assert_allclose(p[:2], [math.erfc(z / math.sqrt(2.0)) for z in (20, 37)], rtol=1e-12)
    assert p[2] == 0.0


def test_what_is_not_estimable_has_no_figures() -> None:
    figures = wald([1.0, 2.0, 3.0, np.nan, np.inf, 5.0], [np.nan, np.inf, -1.0, 1.0, 1.0, 4.0])
    for found in figures:
        np.testing.assert_array_equal(np.isnan(found), [True] * 5 + [False])


def test_an_estimate_without_error_is_certain() -> None:
    z, p, low, high = wald([3.0, 0.0], [0.0, 0.0])
    assert z[0] == np.inf
    assert p[0] == 0.0
    assert (low[0], high[0]) == (3.0, 3.0)
    assert math.isnan(z[1])
    assert math.isnan(p[1])


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e6), st.floats(-140, 140))
def test_units_do_not_matter(b: float, v: float, power: float) -> None:
    unit = 10.0**power
    here, there = wald([b], [v]), wald([b * unit], [v * unit * unit])
    np.testing.assert_allclose(there.z, here.z, rtol=1e-12, atol=1e-100)
    np.testing.assert_allclose(there.p, here.p, rtol=1e-8)
    size = abs(b) + math.sqrt(v)
    np.testing.assert_allclose(there.high / unit, here.high, rtol=1e-12, atol=1e-14 * size)


@given(st.floats(-5, 5), st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_an_interval_leaves_out_zero_just_when_p_is_below_what_it_leaves(
    b: float, v: float, level: float
) -> None:
    _, p, low, high = wald([b], [v], level)
    if abs(p[0] - (1.0 - level)) > 1e-9:
        assert (low[0] <= 0.0 <= high[0]) == (p[0] > 1.0 - level)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, math.nan, True, "0.95", None])
def test_levels_that_are_no_share_are_refused(level: object) -> None:
    with pytest.raises(BadSetting, match=r"level=[\s\S]*Hint: (use|say) level=0.95"):
        checked_level(level)  # type: ignore[arg-type]


def test_figures_of_a_fit_by_hand() -> None:
    fit = FitFigures.of(15.0, 20.0, 40.0, 2, classes=2)
    assert (fit.log_likelihood, fit.deviance, fit.null_deviance) == (-15.0, 30.0, 40.0)
    assert fit.aic == 34.0
    assert fit.bic == pytest.approx(30.0 + 2.0 * math.log(40.0), rel=1e-15)
    assert fit.mcfadden == 0.25
    assert fit.cox_snell == pytest.approx(1.0 - math.exp(-0.25), rel=1e-14)
    assert fit.nagelkerke == pytest.approx((1 - math.exp(-0.25)) / (1 - math.exp(-1)), rel=1e-14)
    assert (fit.statistic, fit.degrees) == (10.0, 1)
    assert fit.p_value == pytest.approx(float(stats.chi2.sf(10.0, 1)), rel=1e-13)


def test_a_perfect_fit_explains_everything() -> None:
    fit = FitFigures.of(0.0, 20.0, 40.0, 3, classes=3)
    assert math.copysign(1.0, fit.log_likelihood) == 1.0
    assert (fit.deviance, fit.aic, fit.mcfadden, fit.nagelkerke) == (0.0, 6.0, 1.0, 1.0)


def test_a_single_class_leaves_nothing_to_explain() -> None:
    fit = FitFigures.of(0.0, 0.0, 10.0, 0, classes=1)
    assert (fit.mcfadden, fit.nagelkerke, fit.p_value) == (None, None, None)
    assert (fit.cox_snell, fit.statistic, fit.aic, fit.bic) == (0.0, 0.0, 0.0, 0.0)


def test_columns_that_say_nothing_explain_nothing() -> None:
    fit = FitFigures.of(20.0, 20.0, 40.0, 4, classes=2)
    assert (fit.mcfadden, fit.cox_snell, fit.nagelkerke) == (0.0, 0.0, 0.0)
    assert (fit.statistic, fit.p_value) == (0.0, 1.0)


def test_rounding_takes_no_statistic_below_zero() -> None:
    fit = FitFigures.of(20.0 + 1e-14, 20.0, 40.0, 4, classes=2)
    assert (fit.statistic, fit.p_value) == (0.0, 1.0)


def test_the_null_model_itself_has_nothing_to_be_tested() -> None:
    fit = FitFigures.of(20.0, 20.0, 40.0, 1, classes=2)
    assert (fit.degrees, fit.p_value) == (0, None)


def test_parameters_that_nobody_can_count_give_no_criteria() -> None:
    fit = FitFigures.of(15.0, 20.0, 40.0, None, classes=2)
    assert (fit.aic, fit.bic, fit.degrees, fit.p_value) == (None, None, None, None)
    assert fit.mcfadden == 0.25


losses = st.floats(0.0, 1e12)


@given(losses, losses, st.floats(1e-6, 1e12), st.integers(0, 50), st.integers(1, 5))
def test_no_figure_is_ever_nan(
    loss: float, null_loss: float, weight: float, parameters: int, classes: int
) -> None:
    fit = FitFigures.of(loss, null_loss, weight, parameters, classes)
    for name in ("log_likelihood", "deviance", "aic", "bic", "statistic", "p_value"):
        found = getattr(fit, name)
        assert found is None or not math.isnan(found)
    for name in ("mcfadden", "cox_snell", "nagelkerke"):
        found = getattr(fit, name)
        assert found is None or (not math.isnan(found) and found <= 1.0)


def test_figures_are_those_of_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 2))
    y = (x[:, 0] + rng.logistic(size=80) > 0.3).astype(int)
    theirs = models.Logit(y, models.add_constant(x)).fit(disp=0, tol=1e-12)
    ours = FitFigures.of(-theirs.llf, -theirs.llnull, 80.0, 3, classes=2)
    assert ours.aic == pytest.approx(theirs.aic, rel=1e-12)
    assert ours.bic == pytest.approx(theirs.bic, rel=1e-12)
    assert ours.mcfadden == pytest.approx(theirs.prsquared, rel=1e-12)
    assert ours.statistic == pytest.approx(theirs.llr, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.llr_pvalue, rel=1e-9)
    z, p, low, high = wald(theirs.params, np.diag(theirs.cov_params()), 0.9)
    np.testing.assert_allclose(z, theirs.tvalues, rtol=1e-12)
    np.testing.assert_allclose(p, theirs.pvalues, rtol=1e-12)
    np.testing.assert_allclose(np.column_stack((low, high)), theirs.conf_int(0.1), rtol=1e-12)
