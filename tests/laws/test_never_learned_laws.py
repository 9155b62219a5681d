"""Rows that never were learned: forgetting them is refused, or leaves what a file can hold."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suffice
from suffice.errors import ForgettingUnseen, SufficeError, SufficeWarning
from tests.reference.saved_models import CASES, Case, counts, pandas_frame, texts

Rows = tuple[Any, Any]
SUMS = {name: case for name, case in CASES.items() if case.forgets} | {
    "texts, boolean": Case(
        lambda: suffice.TextClassifier("boolean", smoothing=1.0, calibrated=False), texts
    ),
    "naive Bayes, few kept rows": Case(
        lambda: suffice.NaiveBayes(calibration_rows=3), pandas_frame
    ),
    "Poisson": Case(lambda: suffice.NaiveBayes("poisson"), counts),
}
"""Everything that forgets."""
STEPS = ("learn", "merge", "reload", "strange", "moved", "shuffled", "one class")
"""What may happen to a model; the last four take rows back that it has not learned."""


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


def file_of(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def came_back(model: Any, X: Any) -> Any:
    """Return what a file gives back: it says the same of rows, and is the same file again."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        data = (Path(folder) / "model").read_bytes()
        back = suffice.load(Path(folder) / "model")
    assert file_of(back) == data
    assert list(back.classes_) == list(model.classes_)
    said = model.predict_proba(X)
    assert not np.isnan(said).any()
    assert np.array_equal(back.predict_proba(X), said)
    return back


def never_learned(step: str, rows: Rows, fresh: Rows, rng: np.random.Generator) -> Rows:
    """Return rows to take back: others, or the learned ones with other cells or labels."""
    if step == "strange":
        return fresh
    X, y = rows
    some = rng.permutation(len(y))[: int(rng.integers(1, max(2, len(y))))]
    X = X.iloc[some] if isinstance(X, pd.DataFrame) else X[some]
    labels = [list(y)[i] for i in some]
    if step == "moved" and isinstance(X, np.ndarray) and (X % 1.0).any():
        X = X + rng.normal(size=X.shape) * 10.0 ** rng.uniform(-9.0, 1.0)
    if step == "shuffled":
        labels = [labels[i] for i in rng.permutation(len(labels))]
    if step == "one class":
        labels = [next(iter(y))] * len(labels)
    return X, np.array(labels, dtype=y.dtype) if isinstance(y, np.ndarray) else labels


@given(
    st.sampled_from(sorted(SUMS)),
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
)
@example("per-class", 3, ["merge", "strange"])
@example("shared", 1, ["strange", "shuffled", "moved"])
@example("diagonal, gaps", 10, ["shuffled", "one class", "shuffled"])
def test_what_was_never_learned_is_refused_or_leaves_a_model_that_can_be_saved(
    name: str, seed: int, steps: list[str]
) -> None:
    rng = np.random.default_rng([seed, *name.encode()])
    case = SUMS[name]
    rows = case.rows(rng, int(rng.integers(4, 30)))
    model = case.model().fit(*rows)
    for step in steps:
        fresh = case.rows(rng, int(rng.integers(1, 10)))
        if step == "learn":
            heavy = rng.random(len(fresh[1])) if rng.random() < 0.4 else None
            model.partial_fit(*fresh, sample_weight=heavy)
        elif step == "merge":
            model = model + model
        elif step == "reload":
            model = came_back(model, rows[0])
        else:
            X, y = never_learned(step, rows, fresh, rng)
            weights = rng.random(len(y)) if rng.random() < 0.4 else None
            before = file_of(model)
            try:
                model.forget(X, y, weights)
            except SufficeError:
                assert file_of(model) == before
                continue
        classes = set(model.statistics_.labels)
        if not classes or not set(getattr(model, "priors", None) or {}) <= classes:
            return  # nothing is left, or not all that the settings name: it is not a model
        came_back(model, rows[0])


# One example of each kind of sums that no rows have

LINE = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, 2.2], [3.0, 2.9]])
ACROSS = np.array([[1.0, 2.0], [2.0, 1.0]])
NAN = np.nan


@pytest.mark.parametrize("names", [None, ["age", "income"]])
@pytest.mark.parametrize("form", ["shared", "per-class", "VEV"])
def test_correlations_beyond_one_are_not_left(form: str, names: list[str] | None) -> None:
    def table(x: np.ndarray) -> Any:
        return x if names is None else pd.DataFrame(x, columns=names)

    rows = np.vstack([LINE, np.add(LINE, [0.0, 9.0])])
    model = suffice.GaussianDiscriminant(form).fit(table(rows), list("aaaabbbb"))
    before = file_of(model)
    what = "age|income" if names else "x[01]|column [01]"
    gone = ACROSS if form != "shared" else np.tile(ACROSS, (2, 1))[:3]
    with pytest.raises(ForgettingUnseen, match=rf"({what}), together with other columns, a neg"):
        model.forget(table(gone), ["a"] * len(gone))
    assert file_of(model) == before


@pytest.mark.parametrize(
    ("model", "rows", "gone", "said"),
    [
        (
            suffice.GaussianDiscriminant("diagonal"),
            [[1.0, NAN], [2.0, 3.0], [4.0, 5.0], [1.0, 6.0]],
            [[2.0, NAN], [2.1, NAN]],
            "class 'a': forgetting would leave x1 with more cells than rows",
        ),
        (
            suffice.NaiveBayes("gaussian"),
            [[1.0, NAN], [2.0, 3.0], [4.0, 5.0], [1.0, 6.0]],
            [[2.0, NAN], [2.1, NAN]],
            "x1 with more cells than rows",
        ),
        (
            suffice.NaiveBayes("categorical"),
            [["red"], ["red"], ["red"], [None]],
            [[None], [None]],
            "x0 with more cells than rows",
        ),
        (
            suffice.NaiveBayes("poisson"),
            [[0.0], [0.0], [NAN], [NAN]],
            [[0.0], [0.0], [0.0]],
            "x0 with more blank cells than rows",
        ),
        (
            suffice.NaiveBayes("bernoulli"),
            [[1.0], [1.0], [0.0]],
            [[0.0], [0.0]],
            "class 'a' with bernoulli columns that have more events than cells",
        ),
        (
            suffice.BernoulliNaiveBayes(),
            [[1.0], [1.0], [0.0]],
            [[0.0], [0.0]],
            "class 'a' with bernoulli columns that have more events than cells",
        ),
        (
            suffice.TextClassifier("boolean", smoothing=1.0, calibrated=False),
            ["this", "this", "that other"],
            ["that", "other"],
            "class 'a' with a term in more documents than it has",
        ),
    ],
)
def test_parts_are_not_left_that_are_more_than_their_whole(
    model: Any, rows: Any, gone: Any, said: str
) -> None:
    model.fit(rows, ["a"] * len(rows))
    before = file_of(model)
    with pytest.raises(ForgettingUnseen, match=said):
        model.forget(gone, ["a"] * len(gone))
    assert file_of(model) == before


@pytest.mark.parametrize(
    "model",
    [
        suffice.NaiveBayes("poisson", calibration_rows=6),
        suffice.GaussianDiscriminant("per-class", calibration_rows=6),
    ],
)
def test_no_more_rows_are_kept_than_are_left(model: Any) -> None:
    """What lies beyond the limit of a sample is not in it, and may never have been learned."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3):
        X = rng.integers(0, 30, size=(12, 1)).astype(float)
        model.fit(X, list("aaaaaabbbbbb"))
        for _ in range(20):
            row = np.maximum(X[rng.integers(6)] + rng.integers(-3, 4), 0.0)[np.newaxis]
            try:
                model.forget(row, ["a"])
            except ForgettingUnseen as refusal:
                refused += "class 'a' with fewer rows than are kept of it" in str(refusal)
                continue
            came_back(model, X)
    assert refused
