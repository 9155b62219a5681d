"""Models that know p(x | y), and can therefore say how typical a row is."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NoPValue, NotADensity
from suffice.sources.arrow_frames import some_rows
from suffice.training.saved_models import Saved, load_saved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture
    from suffice.learning.learners.gaussian_answers import LearnedDiscriminant
    from suffice.learning.learners.naive_bayes_answers import LearnedColumns
    from suffice.rows import FloatArray, IntArray, Table


def with_density(path: Path, what: str = "typicality") -> Saved:
    """Return a model that has class densities, or refuse one that has none."""
    saved = load_saved(path, hidden=True)
    check_density(path, saved, what)
    return saved


def check_density(path: Path, saved: Saved, what: str = "typicality") -> None:
    """Refuse a model that has no class densities."""
    if not saved.offers(what):
        cannot = "cannot make rows up" if what == "sample" else "cannot say how typical a row is"
        raise NotADensity(
            f"{path} is a {saved.name}: it says nothing about p(x), and {cannot}",
            hint="gda, qda and naive-bayes can: fit with --model",
        )


def drawn_rows(saved: Saved, size: int, label: object, rng: object) -> tuple[Any, NDArray[Any]]:
    """Return rows that a model makes up, of one class or of all, and the class of each."""
    found: tuple[Any, NDArray[Any]]
    if saved.is_hidden:
        found = saved.model.sample(size, rng, component=label)
    else:
        learned = saved.model
        if learned.frame is not None:  # cells are printed: no library of frames is loaded for them
            learned = replace(learned, frame=None).knowing(learned.fit)
        found = learned.sample(size, label, rng)
    return found


def most_typical(
    learned: LearnedDiscriminant | LearnedColumns | GaussianMixture,
    table: Table,
    labels: Sequence[object] | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return of each row the class it is most typical of, and how typical it is.

    `labels` are those of rows that were in the fit, None for a row that was not: the others are
    taken out of the model first, each by itself. A class of a row or two, or of too few for its
    covariance matrix, would have nearly every row for its own: rows are judged by the others,
    if there are any.
    """
    with warnings.catch_warnings():
        # A class of one row has p = 1 for all: a warning for each chunk would say no more.
        warnings.simplefilter("ignore", NoPValue)
        found = np.asarray(learned.typicality(table))
        there = np.array([label is not None for label in labels or ()], dtype=bool)
        if there.any():
            rows = some_rows(table, np.flatnonzero(there))
            known = [label for label in labels or () if label is not None]
            found[there] = learned.typicality(  # type: ignore[call-arg]  # classes with names
                rows, np.array(known, dtype=object)
            )
    best = np.where(_too_few(learned), -1.0, found).argmax(axis=1)
    return best, np.take_along_axis(found, best[:, np.newaxis], 1)[:, 0]


def _too_few(learned: Any) -> NDArray[np.bool_]:
    """Say which classes have too few rows to tell a row that is not theirs; none if all have."""
    if not hasattr(learned, "model"):  # of clusters, each with its approximate number of rows
        return np.zeros(learned.components_, dtype=bool)
    weights = learned.model.weights
    family = getattr(learned, "family_in_use", None)  # of normal classes
    form = getattr(family, "covariance", "diagonal")
    least = 2.0
    if form.startswith("shared") or getattr(family, "pool", None):
        least = 0.0
    elif form == "per-class" or getattr(family, "is_tied", False):
        least = learned.columns.width + 1.0
    few: NDArray[np.bool_] = weights <= least
    return few & ~few.all()
