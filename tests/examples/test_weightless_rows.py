"""Rows of weight zero: no part of any model, but rows of the caller's table all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
    Perceptron,
)
from suffice.errors import BadLabels, BadRows, BadWeights, NotFinite

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")

RNG = np.random.default_rng(0)
Y = np.array(["a", "b"] * 12)
CELLS = RNG.poisson(2.0, (24, 3)) + (Y == "b")[:, np.newaxis] * [[1, 0, 2]]
X = CELLS + 0.5 * RNG.random((24, 3))
W = np.array([0.0, 0.0, 1.0, 2.0, 0.0, 0.5, *[1.0] * 16, 0.0, 3.0])
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)

MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    **{
        form: (lambda form=form: GaussianDiscriminant(form), X)
        for form in ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")
    },
    "shared with blanks": (GaussianDiscriminant, HOLES),
    "gaussian": (lambda: NaiveBayes("gaussian"), HOLES),
    "poisson": (lambda: NaiveBayes("poisson"), CELLS.astype(float)),
    "categorical": (lambda: NaiveBayes("categorical"), CELLS % 3),
    "auto columns": (NaiveBayes, X),
    "bernoulli": (lambda: BernoulliNaiveBayes(threshold=2.0), CELLS.astype(float)),
    "multinomial": (MultinomialNaiveBayes, CELLS.astype(float)),
    "complement": (ComplementNaiveBayes, CELLS.astype(float)),
    "sparse": (MultinomialNaiveBayes, csr_array(CELLS.astype(float))),
}


@pytest.mark.parametrize("name", MODELS)
def test_leave_one_out_answers_every_row_that_was_given(name: str) -> None:
    make, x = MODELS[name]
    model = make().fit(x, Y, sample_weight=W)
    found = model.leave_one_out(x, Y, sample_weight=W)
    held = np.flatnonzero(W)
    without = make().fit(x[held], Y[held], sample_weight=W[held])
    alone = without.leave_one_out(x[held], Y[held], sample_weight=W[held])
    assert found.log_posterior.shape == (24, 2)
    assert len(found.codes) == len(found.weights) == len(found.vanished) == len(found.wrong) == 24
    assert np.array_equal(found.weights, W)
    assert np.array_equal(model.classes_[found.codes], Y)
    assert found.log_posterior[held] == pytest.approx(alone.log_posterior, rel=1e-12)
    free = np.flatnonzero(W == 0.0)
    assert np.array_equal(found.log_posterior[free], model.predict_log_proba(x[free]))
    assert found.log_loss == pytest.approx(alone.log_loss, rel=1e-12)
    assert found.error == pytest.approx(alone.error, rel=1e-12)
    assert found.excluded == alone.excluded


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "arrow"])
def test_leave_one_out_answers_every_row_of_any_table(kind: str) -> None:
    x: Any = X
    y: Any = Y
    if kind == "list":
        x, y = X.tolist(), Y.tolist()
    elif kind == "pandas":
        pandas = pytest.importorskip("pandas")
        x, y = pandas.DataFrame(X, columns=list("pqr")), pandas.Series(Y, index=range(5, 29))
    elif kind == "polars":
        polars = pytest.importorskip("polars")
        x, y = polars.DataFrame(X, schema=list("pqr")), polars.Series(Y)
    else:
        arrow = pytest.importorskip("pyarrow")
        x = arrow.table({name: X[:, j] for j, name in enumerate("pqr")})
        y = arrow.array(Y)
    found = GaussianDiscriminant().fit(x, y, sample_weight=W).leave_one_out(x, y, sample_weight=W)
    plain = GaussianDiscriminant().fit(X, Y, sample_weight=W).leave_one_out(X, Y, sample_weight=W)
    assert found.log_posterior == pytest.approx(plain.log_posterior, rel=1e-12)
    assert np.array_equal(found.codes, plain.codes)


def test_a_weightless_row_of_no_class_has_vanished() -> None:
    y = Y.astype(object)
    y[1] = "never learned"
    found = GaussianDiscriminant().fit(X, y, sample_weight=W).leave_one_out(X, y, sample_weight=W)
    assert found.codes[1] == -1
    assert found.vanished[1]
    assert found.wrong[1]
    assert np.isfinite(found.log_loss)


@pytest.mark.parametrize("row", [0, 2, 22])
@pytest.mark.parametrize("make", [GaussianDiscriminant, lambda: NaiveBayes("gaussian")])
def test_refusals_count_rows_as_the_caller_does(make: Any, row: int) -> None:
    model = make().fit(X, Y, sample_weight=W)
    spoiled = X.copy()
    spoiled[row, 1] = np.inf
    with pytest.raises(NotFinite, match=rf"row {row}, "):
        model.leave_one_out(spoiled, Y, sample_weight=W)


@pytest.mark.parametrize("name", MODELS)
def test_a_masked_weight_is_refused_and_not_read_through_its_mask(name: str) -> None:
    make, x = MODELS[name]
    masked = np.ma.masked_array(np.ones(24), mask=np.arange(24) == 7)
    with pytest.raises(BadWeights, match=r"row 7: the weight is masked"):
        make().fit(x, Y, sample_weight=masked)
    whole = np.ma.masked_array(W, mask=False)
    make().fit(x, Y, sample_weight=whole)


NAMED: dict[str, tuple[Callable[[], Any], Any]] = {
    "discriminant": (GaussianDiscriminant, np.inf),
    "normal columns": (lambda: NaiveBayes("gaussian"), np.inf),
    "logarithms": (lambda: NaiveBayes("lognormal"), np.inf),
    "counts": (lambda: NaiveBayes("poisson"), -3.0),
    "words": (MultinomialNaiveBayes, -3.0),
    "presences": (BernoulliNaiveBayes, np.inf),
    "odds": (lambda: LogisticRegression(1.0), np.nan),
    "a line": (Perceptron, np.nan),
}


@pytest.mark.parametrize("row", [2, 8, 21, 23])
@pytest.mark.parametrize("name", NAMED)
def test_a_column_called_row_1_is_no_row(name: str, row: int) -> None:
    """Rows are counted with those of weight zero; what only looks like a row keeps its name."""
    pandas = pytest.importorskip("pandas")
    make, cell = NAMED[name]
    frame = pandas.DataFrame(CELLS + 1.0, columns=["row 0", "row 1", "row 2"])
    spoiled = frame.copy()
    spoiled.loc[row, "row 1"] = cell
    with pytest.raises(BadRows, match=rf"^row {row}, row 1: "):
        make().fit(spoiled, Y, sample_weight=W)
    model = make().fit(frame, Y, sample_weight=W)
    for method in ("partial_fit", "forget", "leave_one_out"):
        if hasattr(model, method):
            with pytest.raises(BadRows, match=rf"^row {row}, row 1: "):
                getattr(model, method)(spoiled, Y, sample_weight=W)


@pytest.mark.parametrize("row", [2, 8, 23])
def test_labels_that_are_none_are_counted_with_the_weightless(row: int) -> None:
    y = Y.astype(object)
    y[row] = 5
    with pytest.raises(BadLabels, match=rf"\brow {row} is the number 5"):
        GaussianDiscriminant().fit(X, y, sample_weight=W)
