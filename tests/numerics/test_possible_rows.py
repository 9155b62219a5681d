"""Rows that are made up are rows that the table could have held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, truncnorm

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.columns.shown import ColumnShown, shown_by_both, shown_from, shown_to
from suffice.errors import BadFile, BadSetting
from suffice.models.possible.bounded_laws import BoundedLaws
from suffice.models.possible.normal_rows import level_offsets
from tests.searches import repeats

if TYPE_CHECKING:
    from pathlib import Path

FORMS = ["shared", "per-class", "diagonal", "EII"]


def _moments(law: BoundedLaws) -> tuple[float, float]:
    drawn = law.at(0, (np.arange(200_000) + 0.5) / 200_000)
    return float(drawn.mean()), float(drawn.std())


@given(
    low=st.floats(-1e3, 1e3),
    width=st.floats(1e-3, 1e5),
    mean=st.floats(0.05, 0.95),
    spread=st.floats(0.05, 0.95),
    digits=st.sampled_from([None, 0, 2]),
)
def test_a_bounded_law_has_its_mean_and_variance(
    low: float, width: float, mean: float, spread: float, digits: int | None
) -> None:
    unit = 0.0 if digits is None else 10.0**-digits
    if digits is not None:
        low, high = round(low, digits), round(low + width, digits)
        if high - low < 4 * unit:
            high = low + 4 * unit
    else:
        high = low + width
    at = low + mean * (high - low)
    # Any variance below that of the two ends is possible; on a lattice also one above rounding's.
    largest = np.sqrt((at - low) * (high - at))
    deviation = max(spread * largest, unit)
    if deviation > 0.95 * largest:
        return
    law = BoundedLaws.of(*(np.array([v]) for v in (at, deviation, low, high, unit)))
    found = _moments(law)
    assert found[0] == pytest.approx(at, abs=0.01 * deviation)
    assert found[1] == pytest.approx(deviation, rel=0.02)
    drawn = law.at(0, np.linspace(0.0, 1.0, 1001))
    rounding = 1e-9 * (abs(low) + abs(high))
    assert low - rounding <= drawn.min()
    assert drawn.max() <= high + rounding
    assert (np.diff(drawn) >= 0.0).all()


def test_far_bounds_leave_a_normal_law_and_near_ones_cut_it_off() -> None:
    shares = np.linspace(0.001, 0.999, 501)
    free = BoundedLaws.of(*(np.array([v]) for v in (3.0, 2.0, -100.0, 100.0, 0.0)))
    from scipy.special import ndtri

    np.testing.assert_allclose(free.at(0, shares), 3.0 + 2.0 * ndtri(shares), atol=0.02)
    # A truncated normal law, by its own mean and variance.
    given_law = truncnorm(-1.0, 0.5)
    cut = BoundedLaws.of(
        *(np.array([v]) for v in (given_law.mean(), given_law.std(), -1.0, 0.5, 0.0))
    )
    np.testing.assert_allclose(cut.at(0, shares), given_law.ppf(shares), atol=0.005)


def test_what_does_not_vary_and_what_cannot_be_is_still_within_bounds() -> None:
    columns = (
        np.array([5.0, -3.0, 0.0, 0.5]),  # means: as it is; outside; at the bound; between points
        np.array([0.0, 1.0, 7.0, 100.0]),
        np.array([0.0, 0.0, 0.0, 0.0]),
        np.array([9.0, 4.0, 9.0, 1.0]),
        np.array([1.0, 1.0, 0.0, 1.0]),
    )
    laws = BoundedLaws.of(*columns)
    drawn = [laws.at(j, np.linspace(0.0, 1.0, 101)) for j in range(4)]
    assert set(drawn[0]) == {5.0}
    assert set(drawn[1]) == {0.0}
    assert set(drawn[2]) == {0.0}
    assert set(drawn[3]) == {0.0, 1.0}
    assert drawn[3].mean() == pytest.approx(0.5, abs=0.02)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8), st.integers(0, 99))
def test_levels_come_by_their_shares(weights: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = np.array(weights) / np.sum(weights)
    mixing = rng.normal(size=(len(shares), len(shares)))
    draws = shares + rng.normal(size=(2000, len(shares))) @ mixing
    found = (draws + level_offsets(draws, shares)).argmax(axis=1)
    assert np.abs(np.bincount(found, minlength=len(shares)) / 2000 - shares).max() < 0.02
    shares[0] = 0.0
    found = (draws + level_offsets(draws, shares / shares.sum())).argmax(axis=1)
    assert (found != 0).all()


numbers = st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), min_size=1, max_size=9)


@given(numbers, numbers, numbers)
def test_what_columns_show_adds_up_in_any_order(
    first: list[float], second: list[float], third: list[float]
) -> None:
    a, b, c = ({"x": ColumnShown.of(np.array(one))} for one in (first, second, third))
    left = shown_by_both(shown_by_both(a, b), c)["x"]  # type: ignore[arg-type]
    right = shown_by_both(c, shown_by_both(b, a))["x"]  # type: ignore[arg-type]
    whole = ColumnShown.of(np.array([*first, *second, *third]))
    assert whole is not None
    for found in (left, right):
        assert (found.digits, found.low, found.high) == (whole.digits, whole.low, whole.high)
        assert (found.rows, found.zeros) == (whole.rows, whole.zeros)
        assert found.total == pytest.approx(whole.total, abs=1e-6)
    assert shown_from(shown_to({"x": left})) == {"x": left}


@pytest.mark.parametrize(
    "held",
    [
        7,
        {"a": [0, 1.0, 0.0, 1, 0, 1.0]},
        {"a": [9, 0.0, 1.0, 1, 0, 1.0]},
        {"a": [0, 0.0, float("inf"), 1, 0, 1.0]},
        {"a": [0, 0.0, 1.0, 1, 2, 1.0]},
        {"a": [0, 0.0]},
        {3: [0, 0.0, 1.0, 1, 0, 1.0]},
    ],
)
def test_what_no_column_can_have_shown_is_refused(held: Any) -> None:
    with pytest.raises(BadFile, match="record the values"):
        shown_from(held)


def _table(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rich = rng.random(n) < 0.3
    gain = np.where(rng.random(n) < 0.15 + 0.4 * rich, rng.lognormal(7.0, 1.0, n), 0.0).round()
    return pd.DataFrame(
        {
            "children": rng.poisson(0.8 + rich, n),
            "gain": gain,
            "share": rng.beta(0.5, 2.0 - rich, n).round(3),
            "plan": rng.choice(list("abcd"), n, p=[0.9, 0.06, 0.03, 0.01]),
            "member": rng.random(n) < 0.05 + 0.5 * rich,
            "class": np.where(rich, "rich", "poor"),
        }
    )


def _are_possible(drawn: Any, table: pd.DataFrame) -> None:
    for name in ("children", "gain", "share"):
        cells = np.asarray(drawn[name], dtype=float)
        assert table[name].min() <= cells.min()
        assert cells.max() <= table[name].max()
        np.testing.assert_array_equal(cells, np.round(cells, 3 if name == "share" else 0))
    assert set(drawn["plan"]) <= set(table["plan"])
    assert set(drawn["member"]) <= {True, False}


@pytest.mark.parametrize("form", [*FORMS, "naive-bayes"])
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
@pytest.mark.filterwarnings("ignore::suffice.errors.UnitsMatter")
def test_drawn_rows_are_possible_and_like_the_real_ones(form: str) -> None:
    table = _table()
    naive = form == "naive-bayes"
    how = {} if naive else {"covariance": form}
    trained = suffice.train(
        table, target="class", model="naive-bayes" if naive else "gda", time_limit=0.01, **how
    )
    model = trained.estimator
    drawn, labels = model.sample(4000, random_state=1)
    _are_possible(drawn, table)
    as_law, _ = model.sample(4000, random_state=1, within=None)
    if not naive:
        with pytest.raises(AssertionError):  # the law by itself knows no bounds
            _are_possible(as_law, table)
    # Forms that depend on units have other variances than the columns.
    if form != "EII":
        for name in ("children", "gain", "share"):
            gap = abs(np.mean(drawn[name]) - table[name].mean())
            assert gap < 0.08 * table[name].std()
            better = ks_2samp(drawn[name], table[name]).statistic
            assert better < ks_2samp(as_law[name], table[name]).statistic + 0.02
    shares = pd.Series(np.asarray(drawn["plan"])).value_counts(normalize=True)
    real = table["plan"].value_counts(normalize=True)
    assert shares.sub(real, fill_value=0.0).abs().max() < 0.03
    for label in ("rich", "poor"):
        mine = np.asarray(drawn["member"])[np.asarray(labels) == label].mean()
        assert mine == pytest.approx(table["member"][table["class"] == label].mean(), abs=0.06)
    again, _ = model.sample(4000, random_state=1)
    assert np.array_equal(np.asarray(again["gain"]), np.asarray(drawn["gain"]))


@pytest.mark.parametrize("make", [GaussianDiscriminant, NaiveBayes])
def test_plain_estimators_draw_from_their_law_unless_rows_are_given(make: Any) -> None:
    table = _table()
    X, y = table.drop(columns="class"), table["class"]
    model = make().fit(X, y)
    as_law, _ = model.sample(500, random_state=3)
    same, _ = model.sample(500, random_state=3, within=None)
    assert as_law.equals(same)
    bounded, _ = model.sample(500, random_state=3, within=X)
    _are_possible(bounded, table)
    with pytest.raises(BadSetting, match="not recorded the values of its columns"):
        model.sample(5, within="training")
    with pytest.raises(BadSetting, match="not a rule"):
        model.sample(5, within="nothing")


def test_gaps_between_columns_survive_bounds() -> None:
    rng = np.random.default_rng(1)
    x = rng.gamma(2.0, size=3000).round(2)
    table = pd.DataFrame({"x": x, "y": (x * 2.0 + rng.gamma(1.0, size=3000)).round(2)})
    table["class"] = np.where(rng.random(3000) < 0.5, "a", "b")
    model = suffice.train(table, target="class", model="gda", time_limit=0.01).estimator
    drawn, _ = model.sample(5000, random_state=0)
    found = np.corrcoef(drawn["x"], drawn["y"])[0, 1]
    assert found == pytest.approx(np.corrcoef(table["x"], table["y"])[0, 1], abs=0.05)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("model", ["gda", "naive-bayes"])
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_no_drawn_row_of_any_table_is_outside_of_type_and_range(model: str, shared: Path) -> None:
    places = sorted((shared / "data" / "tab").glob("*.csv.gz"))
    for place in places[:: repeats(6, 1)]:
        rows = pd.read_csv(place, nrows=250)
        if rows.shape[1] > 60 or rows["target"].nunique() < 2:
            continue
        try:
            trained = suffice.train(rows, target="target", model=model, time_limit=0.001)
        except suffice.errors.SufficeError:
            continue  # too few rows of a class, or too many classes
        drawn, _ = trained.estimator.sample(200, random_state=0)
        drawn = drawn.to_pandas() if hasattr(drawn, "to_pandas") else drawn
        for name, cells in rows.items():
            if name not in drawn.columns or not pd.api.types.is_numeric_dtype(cells):
                continue
            made, held = drawn[name].dropna().astype(float), cells.dropna().astype(float)
            if not len(made) or not len(held):
                continue
            assert held.min() <= made.min(), (place.name, name)
            assert made.max() <= held.max(), (place.name, name)
            if (held == held.round()).all():
                assert (made == made.round()).all(), (place.name, name)
