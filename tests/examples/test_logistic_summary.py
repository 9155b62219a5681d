"""The summary of a logistic regression: what it prints, what its frame holds, what it admits."""

from __future__ import annotations

import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice.errors import BadSetting
from suffice.estimators.linear.logistic_summary import LogisticSummary
from suffice.models.linear.logistic.inference import FitFigures

if TYPE_CHECKING:
    from pathlib import Path

FIT = FitFigures.of(15.0, 20.0, 40.0, 2, classes=2)
ESTIMATES, VARIANCES = np.array([[-2.0, 0.5]]), np.array([[0.25, 0.04]])


def summary(**changes: Any) -> LogisticSummary:
    told: dict[str, Any] = {
        "columns": ["dose"],
        "reference": "alive",
        "compared": ["dead"],
        "estimates": ESTIMATES,
        "variances": VARIANCES,
        "fit": FIT,
        "rows": 40,
    }
    return LogisticSummary.of(**{**told, **changes})


def three_classes(**changes: Any) -> LogisticSummary:
    return summary(
        reference=0,
        compared=[1, 2],
        columns=["height", "weight"],
        estimates=np.arange(6.0).reshape(2, 3),
        variances=np.ones((2, 3)),
        fit=FitFigures.of(30.0, 50.0, 60.5, 6, classes=3),
        **changes,
    )


def test_a_summary_reads_like_this() -> None:
    assert (
        str(summary())
        == """\
Logistic regression of dead against alive, 40 rows

column       estimate  std. error      z        p  95 % low  95 % high
(intercept)   -2.000       0.5000  -4.00  6.3e-05   -2.980     -1.020
dose           0.5000      0.2000   2.50  0.0124     0.1080     0.8920

log-likelihood -15.0000, deviance 30.0000, null deviance 40.0000, AIC 34.0000, BIC 37.3778
likelihood ratio 10.0000 against the null model, 1 degree of freedom, p = 0.0016
pseudo-R²: McFadden 0.250, Cox–Snell 0.221, Nagelkerke 0.350"""
    )


def test_a_summary_shows_itself_at_the_prompt_and_in_notebooks() -> None:
    found = summary()
    assert repr(found) == str(found)
    page = found._repr_html_()
    assert page == found.to_html()
    assert "odds" not in page
    assert ">-2.000" in page
    assert "pseudo-R²" in page


def test_every_class_has_its_block() -> None:
    lines = str(three_classes()).split("\n")
    assert lines[0] == "Softmax regression of 2 classes against 0, 40 rows, weight 60.5000"
    first, second = lines.index("class 1"), lines.index("class 2")
    for at in (first, second):
        assert [line.split()[0] for line in lines[at + 1 : at + 4]] == [
            "(intercept)",
            "height",
            "weight",
        ]
    assert lines[second - 1] == ""


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_holds_a_row_for_each_coefficient(library: str) -> None:
    frame = three_classes().to_frame(library)
    assert list(frame.columns) == [
        *("class", "column", "estimate", "standard_error", "z", "p", "low", "high"),
    ]
    assert list(frame["class"]) == [1, 1, 1, 2, 2, 2]
    assert list(frame["column"]) == ["(intercept)", "height", "weight"] * 2
    assert list(frame["estimate"]) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert frame["low"][5] == pytest.approx(5.0 - 1.959963984540054)


def test_two_classes_have_the_same_frame() -> None:
    assert list(summary().to_frame("polars")["class"]) == ["dead", "dead"]


def test_odds_ratios_have_intervals_of_their_own_and_the_same_test() -> None:
    plain, odds = summary(), summary(exponentiate=True)
    np.testing.assert_allclose(odds.estimates, np.exp(plain.estimates))
    np.testing.assert_allclose(odds.low, np.exp(plain.low))
    np.testing.assert_allclose(odds.high, np.exp(plain.high))
    np.testing.assert_array_equal(odds.p, plain.p)
    np.testing.assert_array_equal(odds.standard_errors, plain.standard_errors)
    assert "odds ratio" in str(odds)
    assert "std. error" not in str(odds)
    assert "odds_ratio" in odds.to_frame("pandas").columns


def test_infinite_odds_are_infinite_and_no_error() -> None:
    ends = (np.array([[-np.inf, 0.3]]), np.array([[np.inf, np.inf]]))
    found = summary(estimates=np.array([[0.0, 1e4]]), profile=ends, exponentiate=True)
    assert found.low[0, 0] == 0.0
    assert (found.high == np.inf).all()
    assert found.estimates[0, 1] == np.inf
    assert "nan" not in str(found)
    assert str(found).count("inf") == 3


def test_profile_intervals_take_the_place_of_walds() -> None:
    ends = (np.array([[-3.1, 0.2]]), np.array([[-1.1, 1.0]]))
    found = summary(profile=ends)
    assert found.intervals == "profile"
    np.testing.assert_array_equal(found.low, ends[0])
    np.testing.assert_array_equal(found.high, ends[1])
    np.testing.assert_array_equal(found.p, summary().p)
    assert "profile likelihood; z and p are Wald's." in str(found)
    assert "profile likelihood." in str(summary(profile=ends, variances=None))
    assert "profile" not in str(summary())


def test_what_is_not_estimable_has_dashes_and_a_note() -> None:
    note = "Column dose is not estimable: it does not vary."
    found = summary(variances=np.array([[0.25, np.inf]]), notes=[note])
    (line,) = (line for line in str(found).split("\n") if line.startswith("dose"))
    assert line.split() == ["dose", "0.5000", *"–––––"]
    assert note in str(found)
    assert note in found.to_html()
    frame = found.to_frame("polars")
    assert frame["p"][1] is None
    assert frame["p"][0] == pytest.approx(6.334248e-05, rel=1e-6)


def test_without_any_variances_there_are_estimates_alone() -> None:
    found = summary(variances=None, converged=False)
    assert np.isnan(found.p).all()
    assert np.isnan(found.low).all()
    assert "Not converged: these figures are not final." in str(found)
    assert "nan" not in str(found) + found.to_html()


def test_parameters_that_nobody_can_count_give_no_criteria() -> None:
    text = str(summary(fit=FitFigures.of(15.0, 20.0, 40.0, None, classes=2)))
    assert "AIC" not in text
    assert "likelihood ratio" not in text
    assert "McFadden 0.250" in text


def test_levels_are_printed_as_they_are() -> None:
    assert "99.9 % low" in str(summary(level=0.999))
    with pytest.raises(BadSetting, match="level=95 is not between 0 and 1"):
        summary(level=95)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadSetting, match="of 1 classes and 2 columns"):
        summary(columns=["dose", "age"])
    with pytest.raises(BadSetting, match=r"variances \(2, 2\)"):
        summary(variances=np.eye(2))


def test_a_summary_of_one_row_and_tiny_p_is_still_english() -> None:
    text = str(summary(rows=1, fit=FitFigures.of(0.0, 1e4, 1.0, 3, classes=2)))
    assert text.startswith("Logistic regression of dead against alive, 1 row\n")
    assert "2 degrees of freedom, p < 1e-99" in text


def test_a_summary_of_many_columns_is_cut_and_its_frame_is_not() -> None:
    size = 5_000
    found = summary(
        columns=[f"word {j}" for j in range(size)],
        estimates=np.zeros((1, size + 1)),
        variances=np.ones((1, size + 1)),
    )
    assert len(str(found).split("\n")) < 300
    assert len(found.to_frame("pandas")) == size + 1


def test_a_summary_survives_a_trip_between_processes() -> None:
    found = three_classes()
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_figures_are_those_of_r(shared: Path) -> None:
    r = json.loads((shared / "reference" / "r_reference.json").read_text())["pima_tr_glm"]
    estimates, errors = np.array([r["coef"]]), np.array([r["se"]])
    found = LogisticSummary.of(
        r["names"][1:],
        "No",
        ["Yes"],
        estimates,
        errors**2,
        FitFigures.of(r["deviance"] / 2.0, 128.207, 200.0, 8, classes=2),
        rows=200,
    )
    # summary(glm(type ~ ., binomial, Pima.tr)): z, Pr(>|z|) and AIC as R prints them.
    np.testing.assert_allclose(found.z[0, [0, 1, 2]], [-5.520, 1.595, 4.732], atol=5e-4)
    np.testing.assert_allclose(found.p[0, [0, 1, 2]], [3.38e-08, 0.11073, 2.22e-06], rtol=5e-3)
    assert found.fit.aic is not None
    assert math.isclose(found.fit.aic, 194.39, abs_tol=5e-3)
