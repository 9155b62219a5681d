"""Naive Bayes on every table, by the folds of the scikit-learn baseline beside the data."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import NaiveBayes
from suffice.errors import SufficeWarning
from tests.reference.data_sets import TABLES, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tests.reference.data_sets import Table

MOST_FOLDED = 21_000
"""Rows up to which the baseline has ten folds; larger tables are split in two."""
CLIP = 1e-15


@dataclass(frozen=True, slots=True)
class Score:
    """What one model reached on one table."""

    log_loss: float
    accuracy: float


def baseline(model: str = "NB") -> dict[str, float]:
    """Return scikit-learn's log-loss on every table that it got through, by name."""
    with (TABLES / "baseline_sklearn.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["model"] == model]
    return {line["dataset"]: float(line["logloss"]) for line in lines if line["logloss"]}


def splits(y: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test rows as the baseline had them."""
    from sklearn.model_selection import StratifiedKFold, train_test_split

    if len(y) > MOST_FOLDED:
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
        yield train, test
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes of two rows
        yield from StratifiedKFold(10, shuffle=True, random_state=0).split(y, y)


def score(table: Table, folds: int | None = None, **settings: Any) -> Score:
    """Return log-loss and accuracy of NaiveBayes on one table, straight from its strings."""
    losses, right, rows = 0.0, 0, 0
    for turn, (train, test) in enumerate(splits(table.y)):
        if folds is not None and turn >= folds:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            model = NaiveBayes(**settings).fit(table.X.iloc[train], table.y[train])
            found = model.predict_proba(table.X.iloc[test])
        own = np.zeros(len(test))
        for c, label in enumerate(model.classes_):
            own[table.y[test] == label] = found[table.y[test] == label, c]
        losses -= float(np.log(np.clip(own, CLIP, 1.0 - CLIP)).sum())
        right += int((model.classes_[found.argmax(axis=1)] == table.y[test]).sum())
        rows += len(test)
    return Score(losses / rows, right / rows)


def scores(name: str, folds: int | None = None, **settings: Any) -> Score:
    """Return the score of one table by name."""
    return score(load(name), folds, **settings)
