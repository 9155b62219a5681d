"""Log-likelihoods of hidden classes, as StepMix reaches them from the same starts, or higher."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice import LatentClasses
from tests.reference.stepmix_values import MADE, PLACE, made, read, start

if TYPE_CHECKING:
    from pathlib import Path

KNOWN: dict[str, tuple[float, int]] = json.loads(PLACE.read_text("utf-8"))
"""Log-likelihood and number of parameters, by table, classes and seed."""


def compare(name: str, codes: np.ndarray) -> None:
    """Fit from every start that StepMix had, and compare."""
    for key, (value, count) in KNOWN.items():
        table, k, seed = key.split()
        if table != name:
            continue
        begin = start(codes, int(k), int(seed))
        model = LatentClasses(int(k), "categorical", smoothing=0.0, start=begin, tol=1e-10)
        model.fit(codes)
        assert model.n_parameters_ == count, key
        assert model.log_likelihood_ >= value - 1e-6, key
        history = model.history_
        assert np.diff(history).min() >= -1e-12 * np.abs(history).max(), key
        assert model.score_samples(codes).sum() == pytest.approx(model.log_likelihood_, rel=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_made_tables(name: str) -> None:
    compare(name, made(MADE[name]))


@pytest.mark.shared
@pytest.mark.slow  # up to nine fits, each shaken
@pytest.mark.parametrize("name", ["vote", "lymphography", "mushroom"])
def test_known_tables(name: str, shared: Path) -> None:
    compare(name, read(shared / "data" / "tab" / f"{name}.csv.gz"))
