"""Whatever can be learned can be saved, and comes back as it was: a generated matrix."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np
import pytest

import suffice
from suffice.storage.checks.estimated_models import ESTIMATED, HIDDEN
from suffice.storage.model_file import MODEL_OF
from tests.reference.round_trips import (
    FAMILIES,
    GRIDS,
    LABELS,
    Cell,
    cells,
    round_trip,
    rows_of,
)
from tests.searches import quick

if TYPE_CHECKING:
    from pathlib import Path

EACH = 5
"""Cells of every estimator that are tried here; `python -m benchmarks.evidence --only files` tries
a thousand."""
DRAWN = 200
"""Cells of every estimator that are drawn: fit refuses many of them, and others follow."""


def _parameters(estimator: str) -> set[str]:
    return set(inspect.signature(getattr(suffice, estimator)).parameters)


def test_the_matrix_has_every_estimator_and_every_parameter() -> None:
    assert {*GRIDS, "MultivariateNormal"} == set(MODEL_OF)
    for estimator, grid in GRIDS.items():
        assert set(grid) == _parameters(estimator), estimator


def test_a_file_is_estimated_with_every_setting_of_its_estimator() -> None:
    # A setting that `estimated_models.py` does not know would make two models of one file.
    for estimator, settings in ESTIMATED.items():
        assert set(settings) == _parameters(estimator), estimator
    kinds = {"GenerativeModel", "NaiveBayesModel"}
    assert {*ESTIMATED, *HIDDEN} == {name for name, model in MODEL_OF.items() if model in kinds}


@pytest.mark.slow  # all of them together: a matrix of thousands of cells, of which each gets a few
@pytest.mark.parametrize("estimator", GRIDS)
def test_every_estimator_and_setting_comes_back(estimator: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2026)
    every = [cell for cell in cells(rng, DRAWN) if cell.estimator == estimator]
    done = 0
    for place in rng.permutation(len(every)):
        said = round_trip(every[place], tmp_path / "model", np.random.default_rng(int(place)))
        assert not said, (every[place], said)
        done += said is not None
        if done == EACH:
            return
    assert done


@pytest.mark.parametrize("labels", quick(LABELS, *list(LABELS)[::4]))
def test_every_kind_of_labels_comes_back(labels: str, tmp_path: Path) -> None:
    held_out = (("families", "gaussian"), ("temperature", "held-out"))
    for estimator, settings in (("GaussianDiscriminant", ()), ("NaiveBayes", held_out)):
        cell = Cell(estimator, settings, "numbers", labels, "forgotten")
        assert round_trip(cell, tmp_path / "model", np.random.default_rng(1)) == ""


@pytest.mark.parametrize("family", quick(FAMILIES, *FAMILIES[::4]), ids=repr)
def test_every_family_with_a_temperature_held_out_comes_back(
    family: object, tmp_path: Path
) -> None:
    settings = (("families", family), ("temperature", "held-out"), ("smoothing", "held-out"))
    said = [
        round_trip(
            Cell("NaiveBayes", settings, table, "text", "in batches"),
            tmp_path / "model",
            np.random.default_rng(1),
        )
        for table in ("counts", "truths", "numbers", "phrases")
    ]
    assert not any(said), said
    assert "" in said


def test_a_mixture_whose_rows_are_all_noise_comes_back(tmp_path: Path) -> None:
    X, _ = rows_of("truths", 20, 3, np.random.default_rng(2922))
    made = suffice.GaussianMixture(range(1, 3), "VVV", noise=True, prior=True, random_state=7)
    model = made.fit(X)
    assert model.weights_.tolist() == [0.0, 1.0]
    assert set(model.predict(X).tolist()) == {-1}
    model.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.score_samples(X), model.score_samples(X))
