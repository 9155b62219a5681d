"""A row that is left out leaves nothing behind: leave_one_out is what refits would say."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import BadRows, UnitsMatter
from suffice.models.gaussian.leave_one_out import missing_cells as missing_rows
from tests.searches import examples, quick

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData"),
    pytest.mark.filterwarnings("ignore::suffice.errors.DidNotConverge"),
    pytest.mark.filterwarnings("ignore::suffice.errors.OneClass"),
    pytest.mark.filterwarnings("ignore:EM had not converged:suffice.errors.Approximation"),
]

seeds = st.integers(0, 2**32 - 1)

FULL: list[dict[str, Any]] = [
    {"covariance": "shared"},
    {"covariance": "shared", "shrink": 0.3, "divisor": "unbiased"},
    {"covariance": "per-class"},
    {"covariance": "per-class", "divisor": "unbiased"},
    {"covariance": "per-class", "pool": 0.3},
    {"covariance": "per-class", "pool": 1.0},
    {"covariance": "per-class", "pool": 0.4, "shrink": 0.3, "divisor": "unbiased"},
    {"covariance": "per-class", "shrink": 0.4, "shrink_target": "scaled"},
    {"covariance": "per-class", "pool": 0.5, "shrink": 0.4, "shrink_target": "scaled"},
]
DIAGONAL: list[dict[str, Any]] = [
    {"covariance": form, "divisor": divisor}
    for form in ("diagonal", "shared-diagonal", "spherical")
    for divisor in ("mle", "unbiased")
]


@pytest.fixture(autouse=True, scope="module")
def _without_a_budget() -> Iterator[None]:
    """EM may creep for a thousand steps on tables this thin: here exactness may cost that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(missing_rows, "ANEW_BUDGET", np.inf)
        yield


def named(setting: dict[str, Any]) -> str:
    return " ".join(str(value) for value in setting.values())


def drawn(
    rng: np.random.Generator, size: int, width: int, blank: float, *, lone: bool = True
) -> tuple[Any, Any, Any]:
    """Return rows of odd units with blanks, two classes or, if `lone`, one row of a third; weights.

    Some columns are far from zero, some are rounded so that classes may be constant in them.
    """
    y = rng.integers(0, 2, size)
    y[:2] = 0, 1
    if lone and rng.random() < 0.5:
        y[-1] = 2
    x = rng.normal(size=(size, width)) @ rng.normal(size=(width, width))
    x += 1.5 * rng.normal(size=(3, width))[y]
    if rng.random() < 0.2:
        x[:, 0] = np.round(x[:, 0] / x[:, 0].std())
    x = x * 10.0 ** rng.uniform(-3, 3, width) + rng.choice([0.0, 0.0, 100.0], width)
    x[rng.random(x.shape) < blank] = np.nan
    w = None if rng.random() < 0.5 else rng.choice([1.0, 2.0, 0.5, 0.3], size)
    return x, y, w


def refitted(make: Any, x: Any, y: Any, w: Any, places: Any) -> Any:
    """Return the log posteriors of some rows, each under a model of all the others."""
    classes = np.unique(y)
    out = np.full((len(places), len(classes)), -np.inf)
    for found, i in zip(out, places, strict=True):
        others = np.arange(len(y)) != i
        model = make().fit(x[others], y[others], sample_weight=None if w is None else w[others])
        found[np.searchsorted(classes, np.unique(y[others]))] = model.predict_log_proba(x[[i]])[0]
    return out


def assert_refitted(make: Any, x: Any, y: Any, w: Any, tolerance: float, some: Any = None) -> None:
    """Compare with refits, relative to max(1, |log posterior|)."""
    places = np.arange(len(y)) if some is None else some
    found = make().fit(x, y, sample_weight=w).leave_one_out(x, y, sample_weight=w)
    # A refit may not come to rest either; nothing else is approximated.
    assert found.approximate in ("", "EM had not converged for some of the rows left out")
    assert len(found.log_posterior) == len(y)
    expected = refitted(make, x, y, w, places)
    finite = np.isfinite(expected)
    assert np.array_equal(np.isfinite(found.log_posterior[places]), finite)
    off = np.abs(found.log_posterior[places][finite] - expected[finite])
    assert np.all(off <= tolerance * np.maximum(1.0, np.abs(expected[finite])))


@pytest.mark.parametrize("setting", DIAGONAL, ids=named)
@examples(5)
@given(seeds, st.sampled_from([0.0, 0.2, 0.5]))
def test_diagonal_forms_are_left_out_exactly(
    setting: dict[str, Any], seed: int, blank: float
) -> None:
    rng = np.random.default_rng(seed)
    x, y, w = drawn(rng, int(rng.integers(6, 20)), int(rng.integers(1, 5)), blank)
    # A class's own variance may come out of a difference in which three digits are lost.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitsMatter)
        assert_refitted(lambda: GaussianDiscriminant(**setting), x, y, w, 1e-8)


@pytest.mark.parametrize("setting", FULL, ids=named)
@examples(4)
@given(seeds)
@example(1616444167)  # without a row, a class's weights are one but for rounding
def test_complete_rows_are_left_out_exactly(setting: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, w = drawn(rng, int(rng.integers(8, 24)), int(rng.integers(1, 5)), 0.0)
    # Downdates lose as many digits as the row has leverage: up to eight before it is refitted.
    assert_refitted(lambda: GaussianDiscriminant(**setting), x, y, w, 1e-7)


@pytest.mark.parametrize("setting", FULL, ids=named)
@examples(2)
@given(seeds, st.sampled_from([0.1, 0.3]))
@example(177, 0.3)  # leaps of EM that would lead beyond all numbers
@pytest.mark.slow
def test_rows_of_thin_tables_with_blanks_are_left_out_exactly(
    setting: dict[str, Any], seed: int, blank: float
) -> None:
    """So thin that the likelihood may have several maxima: estimated anew, and no other one."""
    rng = np.random.default_rng(seed)
    x, y, w = drawn(rng, int(rng.integers(6, 13)), int(rng.integers(1, 4)), blank)
    some = rng.permutation(len(y))[:3]
    tolerance = 1e-6 if "pool" in setting or "shrink" in setting else 1e-9
    assert_refitted(lambda: GaussianDiscriminant(**setting), x, y, w, tolerance, some)


@pytest.mark.parametrize("setting", FULL, ids=named)
@examples(2)
@given(seeds, st.sampled_from([0.05, 0.2]))
@pytest.mark.slow
def test_rows_of_tables_with_blanks_are_left_out_exactly(
    setting: dict[str, Any], seed: int, blank: float
) -> None:
    rng = np.random.default_rng(seed)
    x, y, w = drawn(rng, int(rng.integers(40, 70)), int(rng.integers(2, 4)), blank)
    # EM stops when a step moves parameters by 1e-10; where it creeps, as with much missing, a
    # thousand such steps may be left, on either side.
    some = rng.permutation(len(y))[:3]
    assert_refitted(lambda: GaussianDiscriminant(**setting), x, y, w, 1e-6, some)


LEFT_OUT: dict[str, Any] = {
    **{named(one): lambda one=one: GaussianDiscriminant(**one) for one in FULL + DIAGONAL},
    "naive Bayes": lambda: NaiveBayes("gaussian"),
    "naive Bayes, shared": lambda: NaiveBayes("shared-gaussian"),
}
"""Models that leave rows out exactly, by name."""


@pytest.mark.parametrize("model", quick(LEFT_OUT, *list(LEFT_OUT)[::5]))
def test_a_class_s_only_cell_in_a_column_leaves_nothing_behind(model: str) -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 20)
    x = rng.normal(size=(40, 3)) + y[:, np.newaxis]
    x[:20, 2] = np.nan
    x[7, 2] = 6.0  # the only one that class 0 has
    assert_refitted(LEFT_OUT[model], x, y, None, 1e-6, np.array([7, 8, 25]))


@pytest.mark.parametrize("form", ["shared", "per-class"])
@pytest.mark.slow
def test_the_only_row_that_joins_two_columns_leaves_nothing_behind(form: str) -> None:
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 24)
    x = rng.normal(size=(48, 3)) @ rng.normal(size=(3, 3)) + y[:, np.newaxis]
    x[::2, 0] = np.nan
    x[1::2, 1] = np.nan
    x[5] = 3.0, -3.0, 0.5  # the only one that shows both
    x[30] = -2.0, 2.0, 0.5
    assert_refitted(lambda: GaussianDiscriminant(form), x, y, None, 1e-6, np.array([5, 6, 30]))


def test_beyond_the_budget_a_row_is_not_its_own_witness_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(missing_rows, "NEAR_BUDGET", 0.0)
    monkeypatch.setattr(missing_rows, "ANEW_BUDGET", 0.0)
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], 20)
    x = rng.normal(size=(40, 3)) + y[:, np.newaxis]
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:20, 2] = np.nan
    x[7, 2] = 6.0
    model = GaussianDiscriminant().fit(x, y)
    with pytest.warns(match="EM took one step"):
        found = model.leave_one_out(x, y)
    others = np.arange(40) != 7
    expected = GaussianDiscriminant().fit(x[others], y[others]).predict_log_proba(x[[7]])
    assert found.log_posterior[7] == pytest.approx(expected[0], abs=1e-3)


@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminant(),
        GaussianDiscriminant("auto", average=True),
        GaussianDiscriminant("diagonal", predictive=2.0),
        NaiveBayes(),
        NaiveBayes("categorical", temperature="left-out"),
    ],
    ids=repr,
)
def test_rows_with_categories_that_were_never_learned_are_refused(model: Any) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"n": rng.integers(0, 3, 30), "c": rng.choice(["p", "q"], 30)})
    y = np.arange(30) % 2
    model.fit(rows, y)
    rows.loc[3, "c"] = "new"
    with pytest.raises(BadRows, match="categories that were never learned"):
        model.leave_one_out(rows, y)
