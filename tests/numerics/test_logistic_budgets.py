"""Work that can grow has a budget: a small table is never slow, and says what is not known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.optimize

from suffice import LogisticRegression, load
from suffice.errors import BadSetting, DidNotConverge, SeparationWarning, SufficeWarning
from suffice.models.linear.logistic import firth, newton
from suffice.models.linear.logistic import loss as logistic_loss
from suffice.models.linear.logistic.separation import programs as separation_programs
from suffice.models.linear.logistic.separation import separation
from suffice.models.linear.logistic.separation.margins import TIED, margins_along
from tests.reference.categorical_tables import categorical_table

TABLES = {
    "separated": ({"confused": 0.0}, 0.0),
    "partly separated": ({}, 0.0),
    "hardly separated, a slight penalty": ({"confused": 0.5}, 1e-4),
    "partly separated, a penalty": ({}, 1.0),
    "few rows": ({"rows": 200}, 0.0),
    "few rows, a slight penalty": ({"rows": 200, "confused": 0.0}, 1e-4),
    "5 classes": ({"rows": 700, "columns": 20, "classes": 5}, 0.0),
    "5 classes that overlap": ({"rows": 700, "columns": 9, "classes": 5, "confused": 0.9}, 0.0),
    "9 classes": ({"rows": 1500, "columns": 12, "classes": 9, "confused": 0.3}, 0.0),
    "2 classes": ({"rows": 600, "columns": 30, "classes": 2}, 0.0),
    "2 classes, a slight penalty": ({"rows": 600, "columns": 30, "classes": 2}, 1e-4),
}
MOST_WORK = 2e10
"""Multiplications of one fit: a second or two."""


class Work:
    """Multiplications of a fit, where they can grow: factors, Hessians, programs, passes."""

    def __init__(self, patch):
        self.total = 0.0
        factored, looked = newton.Factor.__init__, logistic_loss.LogisticLoss.curvature
        solved = scipy.optimize.linprog
        inverted, collected = firth.inverse_factor, firth.collect_design

        def invert(matrix):
            self.total += len(matrix) ** 3
            return inverted(matrix)

        def collect(loss, summarize, width):
            self.total += len(loss) * loss.shape[1] * width
            return collected(loss, summarize, width)

        def factor(this, matrix):
            self.total += len(matrix) ** 3 / 3.0
            factored(this, matrix)

        def look(this, theta, hessian=True):
            self.total += len(this) * theta.size * (theta.size if hessian else 2.0)
            return looked(this, theta, hessian)

        def program(**given):
            # Constraints times the square of the coefficients: cells of a row, where rows are
            # sparse, for caps are in one row each.
            matrix = given["A_ub"]
            cells = matrix.nnz if hasattr(matrix, "nnz") else matrix.size
            self.total += 50.0 * cells**2 / matrix.shape[0]
            return solved(**given)

        patch.setattr(newton.Factor, "__init__", factor)
        patch.setattr(logistic_loss.LogisticLoss, "curvature", look)
        patch.setattr(scipy.optimize, "linprog", program)
        patch.setattr(firth, "inverse_factor", invert)
        patch.setattr(firth, "collect_design", collect)


def filled(frame):
    return frame.fillna("blank")


@pytest.mark.parametrize("table", TABLES)
def test_no_small_table_takes_long(table, monkeypatch):
    shape, penalty = TABLES[table]
    X, y = categorical_table(7, **shape)
    work = Work(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = LogisticRegression(penalty).fit(filled(X), y)
    assert work.total < MOST_WORK
    assert np.isfinite(model.predict_proba(filled(X))).all()
    if penalty:  # there is a maximum, and this is it for all that probabilities can show
        assert model.learned_.statistics.found.decrement < 1e-2


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("confused", [0.0, 0.06])
def test_many_classes_of_categories_are_told_to_be_separated_and_it_is_true(seed, confused):
    X, y = categorical_table(seed, confused=confused)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(filled(X), y)
    told = model.learned_.statistics.found.separation
    rows = model.learned_.rows(filled(X))
    design = np.column_stack([np.ones(len(rows)), (rows - model.learned_.statistics.found.origin)])
    design[:, 1:] *= model.learned_.statistics.found.inverse
    codes = np.searchsorted(model.classes_, y)
    margins = margins_along(told.direction, design, codes)
    sizes = np.linalg.norm(design, axis=1) * np.linalg.norm(told.direction)
    assert (margins >= -TIED * sizes[:, np.newaxis]).all()
    apart = (margins > TIED * sizes[:, np.newaxis]).any(axis=1)
    assert apart.sum() == told.rows_apart > 0
    assert (told.kind == "complete") == (confused == 0.0)


def test_margins_of_the_iterates_prove_complete_separation_without_a_program(monkeypatch):
    def none(**_):
        raise AssertionError("a linear program was solved")

    monkeypatch.setattr(scipy.optimize, "linprog", none)
    X, y = categorical_table(3, confused=0.0)
    with pytest.warns(SeparationWarning, match="^complete separation"):
        LogisticRegression().fit(filled(X), y)


@pytest.fixture
def undecided(monkeypatch):
    """Return a fit about which nothing is known, its rows and its labels."""
    monkeypatch.setattr(separation_programs, "MOST_WORK", 0.0)
    monkeypatch.setattr(separation_programs.Budget.__init__, "__defaults__", (0.0,))
    monkeypatch.setattr(separation, "runaway_cone", lambda *_: None)
    X, y = categorical_table(1, 300, 8, 3, confused=0.3)
    with pytest.warns(DidNotConverge, match="it is unknown whether the classes are separated"):
        model = LogisticRegression().fit(filled(X), y)
    return model, filled(X), y


def test_what_is_not_known_is_never_told_as_a_standard_error(undecided):
    model, X, y = undecided
    assert not model.converged_
    assert model.separated_ is None
    assert model.bound_ == np.inf
    for told in (model.summary(), model.summary(X, y)):
        for figures in (told.standard_errors, told.z, told.p, told.low, told.high):
            assert np.isnan(figures).all()
        assert "it is unknown whether the classes are separated" in str(told)
        assert "Not converged" in str(told)
    with pytest.raises(BadSetting, match="no standard errors"):
        model.learned_.statistics.found.covariance(1)


def test_what_is_not_known_is_still_not_known_after_saving(undecided, tmp_path):
    model, X, _ = undecided
    model.save(tmp_path / "model.suffice")
    again = load(tmp_path / "model.suffice")
    assert (
        again.learned_.statistics.found.undecided
        == model.learned_.statistics.found.undecided
        is not None
    )
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert str(again.summary()) == str(model.summary())


def test_standard_errors_of_many_parameters_are_not_computed_unasked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 150))
    y = rng.integers(9, size=3000)  # 1,208 parameters
    model = LogisticRegression().fit(X, y)
    assert model.converged_
    with pytest.raises(BadSetting, match="would have taken too long"):
        model.summary()


FIRTH_WORK = 5e10
"""Multiplications of a fit by Firth's correction of a small table: some seconds."""

FIRTH_TABLES = {
    "overlapping": (300, 20, 2, 0.0),
    "separated": (300, 20, 2, 8.0),
    "separated, many columns": (2000, 200, 2, 8.0),
    "3 classes": (1000, 150, 3, 8.0),
    "8 classes": (400, 40, 8, 8.0),
    "more coefficients than rows": (100, 60, 4, 0.0),
    "6,000 coefficients": (2000, 200, 30, 1.0),
}


def drawn_classes(rows, columns, classes, strength):
    rng = np.random.default_rng(rows + columns)
    X = rng.normal(size=(rows, columns))
    scores = strength * X[:, :3] @ rng.normal(size=(3, classes)) if strength else 0.0
    noise = rng.gumbel(size=(rows, classes)) if strength < 8.0 else 0.0
    return X, np.argmax(scores + noise, axis=1)


@pytest.mark.parametrize("table", FIRTH_TABLES)
def test_no_small_table_takes_long_by_firths_correction(table, monkeypatch):
    X, y = drawn_classes(*FIRTH_TABLES[table])
    work = Work(monkeypatch)
    model = LogisticRegression(correction="firth")
    if table == "6,000 coefficients":
        with pytest.raises(BadSetting, match=r"by 2,000 rows would take too long\nHint: use a"):
            model.fit(X, y)
    else:
        model.fit(X, y)
        assert model.converged_
        assert np.isfinite(model.coef_).all()
    assert work.total < FIRTH_WORK


@pytest.mark.parametrize("table", [{"rows": 700, "columns": 20}, {"rows": 700, "columns": 9}])
def test_firths_correction_of_many_categories_finds_its_maximum(table, monkeypatch):
    # The first step goes into a corner where the information is nearly singular.
    X, y = categorical_table(7, classes=5, **table)
    work = Work(monkeypatch)
    model = LogisticRegression(correction="firth").fit(filled(X), y)
    assert model.converged_
    assert work.total < FIRTH_WORK


def test_a_fit_that_spends_its_budget_says_so(monkeypatch):
    X, y = drawn_classes(300, 20, 2, 8.0)
    monkeypatch.setattr(firth, "MOST_WORK", 25.0 * 321 * 21**2)
    monkeypatch.setattr(firth, "ROW_WORK", 0.0)
    with pytest.warns(DidNotConverge, match="in 2. passes.*Hint: more would take too long"):
        model = LogisticRegression(correction="firth").fit(X, y)
    assert not model.converged_
    assert model.n_iter_ <= 27  # the pass that is under way is ended, and its slope taken
    monkeypatch.setattr(firth, "MOST_WORK", 19.0 * 321 * 21**2)
    with pytest.raises(BadSetting, match="of 21 coefficients by 300 rows would take too long"):
        LogisticRegression(correction="firth").fit(X, y)
