"""The tables of the tournament, and which rows of them are learned from."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "tab"
"""The reference tables beside the project."""
MOST_TESTED = 1000
"""Test rows of a draw: the standard error of a mean log-loss is then about 0.02."""
FEWEST_TESTED = 50
"""Test rows below which a table has too few rows for this size of training set."""
ROWS_READ = 20_000
"""Rows of a table that are drawn from: more would only make reading slow."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Some rows to learn from, and others to be judged by: raw columns, with text and blanks.

    Test rows of a class that no training row has are left out: nobody can name it.
    """

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def names() -> tuple[str, ...]:
    """Return the names of all tables, in order."""
    return tuple(sorted(path.name.removesuffix(".csv.gz") for path in FOLDER.glob("*.csv.gz")))


@lru_cache(maxsize=2)
def table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns of a table, categories as text, and its labels as text."""
    frame = pd.read_csv(FOLDER / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    if len(frame) > ROWS_READ:
        keep = np.random.default_rng(0).permutation(len(frame))[:ROWS_READ]
        frame = frame.iloc[np.sort(keep)].reset_index(drop=True)
    labels = frame.pop("target").to_numpy(dtype=object)
    frame = frame.drop(columns="split", errors="ignore")
    categorical = _categorical_columns()[name]
    columns = {}
    for column in frame:
        cells = frame[column].where(frame[column] != "", None)
        columns[column] = cells if column in categorical else pd.to_numeric(cells)
    return pd.DataFrame(columns), labels


@lru_cache(maxsize=1)
def _categorical_columns() -> dict[str, frozenset[str]]:
    with (FOLDER / "manifest.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["name"]: frozenset(filter(None, row["cat_cols"].split("|")))
            for row in csv.DictReader(file)
        }


def draw(name: str, size: int, repeat: int) -> Draw | None:
    """Return `size` rows to learn from and the rows to be judged by; None where rows are too few.

    The draw depends on the three arguments and on nothing else.
    """
    frame, labels = table(name)
    if len(frame) < size + FEWEST_TESTED:
        return None
    rng = np.random.default_rng([zlib.crc32(name.encode()), size, repeat])
    while True:
        order = rng.permutation(len(frame))
        train, rest = order[:size], order[size:]
        if len(set(labels[train])) > 1:
            break
    known = np.isin(labels[rest].astype(str), labels[train].astype(str))
    test = rest[known][:MOST_TESTED]
    return Draw(
        frame.iloc[train].reset_index(drop=True),
        labels[train],
        frame.iloc[test].reset_index(drop=True),
        labels[test],
    )
