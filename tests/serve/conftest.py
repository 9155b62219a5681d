"""Models that servers are asked about: one of each kind that a file may hold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"size": 1.5, "colour": "red", "scented": True},
    {"size": 1.7, "colour": "red", "scented": True},
    {"size": 1.4, "colour": "white", "scented": True},
    {"size": None, "colour": "red", "scented": False},
    {"size": 0.3, "colour": "white", "scented": False},
    {"size": 0.4, "colour": None, "scented": False},
    {"size": 0.2, "colour": "yellow", "scented": False},
    {"size": 0.35, "colour": "white", "scented": True},
]
LABELS = ["rose"] * 4 + ["daisy"] * 4


def flowers(rows: list[dict[str, Any]] | None = None) -> Any:
    import pandas as pd

    return pd.DataFrame(ROWS if rows is None else rows)


def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 3)) + y[:, np.newaxis], y


@pytest.fixture(scope="session")
def model_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model file of each kind, named by it."""
    folder = tmp_path_factory.mktemp("models")
    X, y = numbers()
    counts = np.abs(np.round(3 * X)).astype(np.int64)
    texts = ["red rose garden", "white daisy field", "rose thorn red", "daisy chain meadow"] * 3
    of_texts = ["rose", "daisy"] * 6
    frame, labels = flowers(), np.array(LABELS)
    full = frame.assign(size=frame["size"].fillna(1.6).astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows are parted by a plane
        linear = suffice.LogisticRegression().fit(full, labels)
    kinds = {
        "gda": suffice.GaussianDiscriminant().fit(frame, labels),
        "qda": suffice.GaussianDiscriminant("per-class").fit(X, y),
        "naive_bayes": suffice.NaiveBayes().fit(frame, labels),
        "multinomial": suffice.MultinomialNaiveBayes().fit(counts, y),
        "complement": suffice.ComplementNaiveBayes().fit(counts, y),
        "bernoulli": suffice.BernoulliNaiveBayes().fit(counts > 2, y),
        "logistic": linear,
        "perceptron": suffice.Perceptron().fit(full, labels),
        "text": suffice.TextClassifier().fit(texts, of_texts),
        "pool": suffice.Pool().fit(X, y),
        "mixture": suffice.GaussianMixture(2).fit(X),
    }
    for name, model in kinds.items():
        model.save(folder / f"{name}.suffice")
    return folder


@pytest.fixture
def flower_files(model_files: Path) -> tuple[Path, Path]:
    """Return naive Bayes and a discriminant of flowers: categories, truths and blanks."""
    return model_files / "naive_bayes.suffice", model_files / "gda.suffice"
