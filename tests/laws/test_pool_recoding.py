"""Rows coded by some of them: as if the others had never been there."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from suffice.models.pool.coding import Coding
from suffice.models.pool.folded_rows import RANKS, VALUES, FoldedRows
from suffice.models.pool.recoding import Recoding
from suffice.rows import read_table

SEEDS = st.integers(0, 2**32 - 1)


def frame(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """Return columns with ties, blanks, outliers, rare levels, and nearly constant ones."""
    found = pd.DataFrame(
        {
            "number": rng.normal(size=size) * 10.0 ** rng.integers(-8, 9),
            "skewed": np.exp(3.0 * rng.normal(size=size)),
            "whole": rng.integers(0, 4, size=size),
            "rare": (rng.random(size) < 0.1).astype(float),
            "far": np.where(np.arange(size) == 0, 1e9, rng.normal(size=size)),
            "colour": rng.choice([f"c{i}" for i in range(9)], size=size).astype(object),
            "same": np.where(np.arange(size) == size - 1, "odd", "usual").astype(object),
        }
    )
    found.loc[rng.random(size) < 0.2, "skewed"] = np.nan
    found.loc[rng.random(size) < 0.2, "colour"] = None
    return found


@given(SEEDS, st.integers(2, 40))
def test_rows_are_coded_as_if_the_others_had_never_been_there(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    table = read_table(frame(rng, size))
    weights = rng.choice([0.0, 1.0, 2.5], size)
    weights[rng.integers(size)] = 1.0
    used = np.flatnonzero(weights)
    whole = Coding.of(table, np.ones(size))
    found = Recoding(whole.code(table)).by(weights)
    alone = Coding.of(table.rows(used), weights[used])
    expected = alone.code(table)
    for cells in ("values", "ranks"):
        np.testing.assert_allclose(
            getattr(found.rows, cells), getattr(expected, cells), rtol=1e-6, atol=1e-6
        )
    for codes in ("bins", "levels", "bin_sizes", "level_sizes"):
        np.testing.assert_array_equal(getattr(found.rows, codes), getattr(expected, codes))
    columns = np.array([*whole.numbers, *whole.categories])
    assert columns[found.kept].tolist() == [*alone.numbers, *alone.categories]


@given(SEEDS, st.integers(12, 30))
def test_rows_of_a_fold_have_no_part_in_how_it_is_prepared(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    cells = frame(rng, size)
    codes = np.arange(size) % 2
    one = _folded(cells, codes)
    held = one.folds == 0
    other = cells.copy()
    other.loc[held, ["number", "skewed"]] *= rng.uniform(0.5, 1.5)
    other.loc[held, "colour"] = "new"
    two = _folded(other, codes)
    for which in (VALUES, RANKS):
        left, right = one.fold_features[which][0][~held], two.fold_features[which][0][~held]
        np.testing.assert_allclose(left, right, atol=1e-6)


def _folded(cells: pd.DataFrame, codes: np.ndarray) -> FoldedRows:
    table = read_table(cells)
    weights = np.ones(len(cells))
    return FoldedRows(Coding.of(table, weights).code(table), codes, weights, 2)
