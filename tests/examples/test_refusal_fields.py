"""Refusals and warnings have fields, and whoever knows more fills them in: no sentence is read."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from suffice import (
    GaussianDiscriminant,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    Pool,
    bridge,
)
from suffice.errors import (
    BadLabels,
    BadRows,
    DegenerateData,
    ForgettingUnseen,
    NotFinite,
    OutsideSupport,
)
from suffice.families import LogNormal
from suffice.places import CellAt, CellsAt, ColumnAt, Phrase, Place

ESTIMATORS = [GaussianDiscriminant, LogisticRegression, NaiveBayes, Perceptron, Pool]
NAMES = ["row 0", "row 1", "column 0"]
"""Columns that are called as rows and columns are."""
Y = ["u", "v"] * 4
W = [0, 0, 1, 0, 1, 1, 1, 1]


def table(cell: float) -> pd.DataFrame:
    cells = np.random.default_rng(0).normal(size=(8, 3))
    cells[4, 1] = cell
    return pd.DataFrame(cells, columns=NAMES)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_among_rows_of_weight_zero_a_row_is_renumbered_and_a_column_is_not(estimator: Any) -> None:
    with pytest.raises(NotFinite, match=r"^row 4, row 1: inf is not a finite number") as told:
        estimator().fit(table(np.inf), Y, sample_weight=W)
    assert (told.value.row, str(told.value.column), told.value.value) == (4, "row 1", np.inf)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_and_lists_are_counted_as_they_were_given(estimator: Any) -> None:
    broken: list[Any] = [*Y]
    broken[6] = 0.5j
    with pytest.raises(BadLabels, match=r"\b[Rr]ow 6\b"):
        estimator().fit(table(0.0), broken, sample_weight=W)
    rows: list[Any] = table(0.0).to_numpy().tolist()
    rows[5] = [1.0, 2.0]
    with pytest.raises(BadRows, match=r"^row 5 has 2 cell\(s\) where row 2 has 3 cell\(s\)"):
        estimator().fit(rows, Y, sample_weight=W)


def test_blanks_and_leave_one_out_are_counted_as_they_were_given() -> None:
    with pytest.raises(NotFinite, match=r"^row 4, row 1: nan is not a finite number"):
        bridge(table(np.nan), Y, sample_weight=W)
    model = NaiveBayes("gaussian").fit(table(0.0), Y, sample_weight=W)
    weightless = table(0.0)
    weightless.iloc[3, 1] = np.inf
    with pytest.raises(NotFinite, match=r"^row 3, row 1: inf is not a finite number"):
        model.leave_one_out(weightless, Y, sample_weight=W)


WIDE = pd.DataFrame({"age": [1.0, 2, 3, 4], "income": [1e300, -1e300, 1e300, 2e300]})


@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminant(),
        GaussianDiscriminant("per-class"),
        GaussianDiscriminant("diagonal"),
        LogisticRegression(),
        NaiveBayes("gaussian"),
    ],
    ids=repr,
)
def test_every_model_calls_a_column_by_its_name(model: Any) -> None:
    with pytest.raises(NotFinite, match=r"^the spread of income is too large") as told:
        model.fit(WIDE, [0, 1, 0, 1])
    assert told.value.fields["columns"] == (ColumnAt(1, "income"),)
    with pytest.raises(NotFinite, match=r"^the spread of (x1|column 1) is too large"):
        model.fit(WIDE.to_numpy(), [0, 1, 0, 1])


def test_a_column_among_those_that_are_seen_is_the_one_it_is_among_all() -> None:
    blank = pd.concat([WIDE.assign(age=np.nan), WIDE.assign(income=[1.0, 3.0, 2.0, 5.0])])
    with pytest.raises(NotFinite, match=r"^the spread of income is too large"):
        GaussianDiscriminant().fit(blank, [0, 1, 0, 1] * 2)


@pytest.mark.parametrize("blank", [False, True])
@pytest.mark.parametrize(
    "model", [GaussianDiscriminant("per-class"), NaiveBayes("gaussian")], ids=repr
)
def test_what_cannot_be_forgotten_is_called_by_its_name(model: Any, blank: bool) -> None:
    rows = pd.DataFrame({"age": [1.0, 2, 3, 4, 5, 7], "income": [3.0, 1, 4, 1, 5, 9]})
    others = rows.copy()
    if blank:
        rows.loc[:, "age"] = [1.0, 2, np.nan, np.nan, np.nan, np.nan]
        others = rows.copy()
    others.loc[:, "income"] += 100.0
    labels = ["u", "u", "v", "v", "v", "v"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, labels)
        with pytest.raises(ForgettingUnseen, match="income") as told:
            model.forget(others.iloc[2:], labels[2:])
    assert "column" not in told.value.problem
    assert "part" not in told.value.problem


def test_fields_go_from_process_to_process() -> None:
    refusal = NotFinite.of(3, ColumnAt(1), np.inf).within("class 'a'").at(Place("t.csv", 11, 20))
    same = pickle.loads(pickle.dumps(refusal))
    assert str(same) == str(refusal)
    assert same.filled(["a", "b"], [5, 6, 7, 8]).problem == (
        "t.csv, rows 11 to 20: class 'a': row 8, b: inf is not a finite number "
        "(input contains infinity)"
    )
    assert same.at("elsewhere").problem == same.problem
    assert same.fields["cell"] == CellAt(3, ColumnAt(1))
    odd = BadRows.of_cell(0, "x", "… is odd", value=object(), hint="none")
    assert str(pickle.loads(pickle.dumps(odd)).value).startswith("<object")


def test_braces_in_names_and_cells_are_no_templates() -> None:
    rows = pd.DataFrame({"{row}": [1.0, 2.0, np.inf, 4.0]})
    with pytest.raises(NotFinite, match=r"^row 2, \{row\}: inf"):
        GaussianDiscriminant().fit(rows, [0, 1, 0, 1])
    held = pd.DataFrame({"{0}": ["{a}", "b", "{a}", "b"]})
    with pytest.raises(
        BadRows, match=r"row 0, \{0\}: '\{a\}' is not a number, but \{0\} is gaussian"
    ):
        NaiveBayes("gaussian").fit(held, [0, 1, 0, 1])
    assert str(Phrase("{a}", a="{b}")) == "{b}"


def test_warnings_have_fields() -> None:
    rows = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.5], [1.0, 7.0]])
    with pytest.warns(DegenerateData, match="x0") as told:
        GaussianDiscriminant().fit(rows, [0, 1, 0, 1])
    assert told[0].message.fields["columns"] == (ColumnAt(0, "x0"),)
    model = NaiveBayes(LogNormal()).fit(rows + np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    with pytest.warns(OutsideSupport, match=r"column 1 \(row 1, 3\)") as told:
        model.predict([[1.0, 2.0], [1.0, 0.0], [1.0, 2.0], [1.0, -1.0]])
    assert told[0].message.fields["cells"] == (CellsAt((1, 3), "column 1"),)
    same = pickle.loads(pickle.dumps(told[0].message))
    assert (type(same), str(same)) == (OutsideSupport, str(told[0].message))


def test_a_warning_is_about_the_line_of_the_caller() -> None:
    flat = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.5], [1.0, 7.0]])
    labels = [0, 1, 0, 1]
    wide = np.array([[0.0], [1.0], [2.0], [3.0], [1e9], [-1e9]])
    gone = GaussianDiscriminant("per-class").fit(wide, [0, 1, 0, 1, 0, 1])
    answered = NaiveBayes(LogNormal()).fit(flat + np.arange(8.0).reshape(4, 2), labels)
    calls = [
        lambda: GaussianDiscriminant().fit(flat, labels),
        lambda: make_pipeline(GaussianDiscriminant()).fit(flat, labels),
        lambda: LogisticRegression().fit(flat, labels),
        lambda: NaiveBayes("gaussian").fit(flat[:, :1] * 0.0, [0, 0, 0, 0]),
        lambda: answered.predict_proba([[0.0, 1.0]]),
        lambda: gone.forget(wide[4:], [0, 1]),
        lambda: NaiveBayes().fit(flat, np.array(labels)[:, np.newaxis]),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert told, call.__code__.co_firstlineno
        assert {warning.filename for warning in told} == {__file__}
