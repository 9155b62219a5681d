"""Windows that slide over whole numbers and decimals: what is left may be constant, and is known.

The reference is a fit of the rows that are left.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import ForgettingUnseen
from suffice.statistics import ByClass, DiagonalMoments, Moments, PooledMoments
from suffice.statistics.moments.steps import MANY, steps_of
from tests.searches import examples, repeats

FORMS = ["moments", "pooled", "diagonal"]
GRIDS = {1.0: [0.0, 1.0], 1e3: [0.1, 0.2, 20.05], 1e6: [-3.000001, 4.25, 7.0], 1.5: [1.0, -7.0]}
"""Cells of columns, most of them rare, so that windows are often constant."""


def summary(form: str, rows: Any, codes: Any) -> Any:
    """Return the statistics of rows of two classes, in the form of a family."""
    if form == "pooled":
        return PooledMoments.of_classes(rows, codes, ["a", "b"])
    return ByClass.of({"moments": Moments, "diagonal": DiagonalMoments}[form], rows, codes, [0, 1])


def variances(state: Any) -> Any:
    """Return the scatters of all columns, and how far they may be off, relatively and as such."""
    groups = [state] if isinstance(state, PooledMoments) else list(state.groups.values())
    scatters = [np.diagonal(g.scatter) if g.scatter.ndim == 2 else g.scatter for g in groups]
    return tuple(map(np.array, (scatters, [g.lost for g in groups], [g.bound for g in groups])))


@pytest.mark.parametrize("form", FORMS)
@examples(100)
@given(st.data())
def test_a_window_over_a_grid_knows_when_it_is_constant(form: str, data: Any) -> None:
    """However it began, and whichever cell came first."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    window = data.draw(st.sampled_from([2, 4, 10, 40]))
    share = data.draw(st.sampled_from([0.02, 0.2, 0.8]))
    length = window + 25
    rows = np.column_stack(
        [
            np.where(rng.random(length) < share, rng.choice(cells[1:], length), cells[0])
            for cells in GRIDS.values()
        ]
    )
    codes = np.arange(length) % 2
    if data.draw(st.booleans()):
        state = summary(form, rows[:window], codes[:window])
    else:
        state = summary(form, rows[:1], codes[:1])
        for i in range(1, window):
            state = state + summary(form, rows[i : i + 1], codes[i : i + 1])
    for i in range(length - window):
        new, gone = slice(i + window, i + window + 1), slice(i, i + 1)
        state = state + summary(form, rows[new], codes[new])
        state = state - summary(form, rows[gone], codes[gone])
        left = slice(i + 1, i + 1 + window)
        found, lost, bound = variances(state)
        right, _, rounding = variances(summary(form, rows[left], codes[left]))
        constant = right == 0.0
        assert (found[constant] == 0.0).all()
        assert (lost[constant] == 0.0).all()
        assert (np.abs(found - right) <= bound + rounding).all()


@pytest.mark.parametrize("weight", [1e-20, 0.5e-30])
@pytest.mark.parametrize("kind", [Moments, DiagonalMoments])
def test_cells_of_broken_weights_are_on_no_grid(kind: Any, weight: float) -> None:
    """A row may weigh next to nothing: its scatter is far below one step, and not zero."""
    rows = np.array([[0.0], [1.0]])
    held = kind.of(rows, [1.0, weight]) + kind.of([[5.0]])
    left = held - kind.of([[5.0]])
    assert left.steps is None
    assert left.lost[0] > 0.0 or left.scatter.ravel()[0] == pytest.approx(weight)


def test_fading_leaves_the_grid() -> None:
    """What is left of a faded row when a whole one is taken away may weigh anything."""
    held = Moments.of([[0.0], [1.0]])
    assert held.steps is not None
    assert held.scaled(0.5).steps is None
    assert (held.scaled(0.5) + held).steps is None


@pytest.mark.parametrize(
    ("cells", "steps"),
    [
        ([0.0, 1.0, -3.0], 1.0),
        ([0.1, 0.25, 100.0], 1e3),
        ([0.000001, 5.0, np.nan], 1e6),
        ([1 / 3, 1.0, 2.0], np.inf),
        ([2.0**51, 1.0, 2.0], 1.0),
        ([2.0**51 + 0.5, 0.1, 2.0], np.inf),
        ([float(np.float32(0.1)), 1.0, 2.0], np.inf),
        ([1e305, 0.5, 2.0], 1e3),
    ],
)
def test_the_grid_of_a_column_is_found(cells: list[float], steps: float) -> None:
    """Beside a column of whole numbers, in few rows and in many."""
    for repeat in (1, 100):
        rows = np.column_stack([np.resize(cells, 3 * repeat), np.arange(3.0 * repeat)])
        found = steps_of(rows, None)
        assert found is not None
        assert found.tolist() == [steps, 1.0]


def test_one_cell_off_the_grid_is_seen_among_many() -> None:
    rows = np.zeros((MANY, 2))
    rows[777, 0] = 0.1234567
    found = steps_of(rows, None)
    assert found is not None
    assert found.tolist() == [np.inf, 1.0]
    assert steps_of(np.zeros((MANY + 1, 2)), None) is None


@pytest.mark.parametrize("first", [0.0, 1.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda: GaussianDiscriminant("shared"),
        lambda: GaussianDiscriminant("per-class"),
        lambda: NaiveBayes("gaussian"),
    ],
)
def test_windows_of_rare_indicators_are_never_refused(make: Any, first: float) -> None:
    """Also where a class shows the same cell in all rows of the moment."""
    length = repeats(150, 2_000)
    rng = np.random.default_rng(3)
    rows = (rng.random((length + 10, 2)) < [0.02, 0.2]).astype(float)
    rows[:3, 0] = first
    y = np.arange(len(rows)) % 2
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffice.errors.SufficeWarning)
        for i in range(10):
            model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=[0, 1])
        for i in range(length):
            model.partial_fit(rows[i + 10 : i + 11], y[i + 10 : i + 11])
            model.forget(rows[i : i + 1], y[i : i + 1])
        fresh = make().fit(rows[length : length + 10], y[length : length + 10])
        np.testing.assert_allclose(
            model.predict_proba(rows[:50]), fresh.predict_proba(rows[:50]), atol=1e-9
        )


@pytest.mark.parametrize("apart", [0.0, 1e-13, 1e-10])
def test_cells_on_no_grid_are_constant_only_if_they_are_the_same(apart: float) -> None:
    """Thirds that are nearly the same cannot be told from each other by sums: they are refused."""
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(size=40), np.full(40, 1 / 3)][:, np.newaxis]
    rows[-10:] += apart
    y = np.arange(80) % 2
    model = GaussianDiscriminant("shared").fit(rows, y)
    if apart:
        with pytest.raises(ForgettingUnseen, match="no reliable digits"):
            model.forget(rows[:40], y[:40])
        return
    model.forget(rows[:40], y[:40])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant column, after forgetting as after a fit
        fresh = GaussianDiscriminant("shared").fit(rows[40:], y[40:])
        np.testing.assert_array_equal(
            model.predict_proba(rows[40:]), fresh.predict_proba(rows[40:])
        )
