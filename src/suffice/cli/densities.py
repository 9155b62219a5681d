"""Models that know p(x | y), and can therefore say how typical a row is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.cli.model_files import Saved, load_saved
from suffice.errors import NotADensity
from suffice.sources.table_frames import frame_of

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.rows import FloatArray, IntArray, Table


def with_density(path: Path, what: str = "typicality") -> Saved:
    """Return a model that has class densities, or refuse one that has none."""
    saved = load_saved(path)
    if not hasattr(saved.estimator, what):
        cannot = "cannot make rows up" if what == "sample" else "cannot say how typical a row is"
        raise NotADensity(
            f"{path} is a {type(saved.estimator).__name__}: it says nothing about p(x), "
            f"and {cannot}",
            hint="gda, qda and naive-bayes can: fit with --model",
        )
    return saved


def most_typical(estimator: Any, table: Table) -> tuple[IntArray, FloatArray]:
    """Return of each row the class it is most typical of, and how typical it is.

    A class of too few rows has no p-value, and the row is judged by the others. Where none has
    one, nothing can be said against the row: its typicality is not a number.
    """
    found = np.asarray(estimator.typicality(frame_of(table)))
    known = ~np.isnan(found)
    best = np.where(known, found, -1.0).argmax(axis=1)
    return best, np.take_along_axis(found, best[:, np.newaxis], 1)[:, 0]
