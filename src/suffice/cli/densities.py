"""Models that know p(x | y), and can therefore say how typical a row is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.cli.model_files import Saved, load_saved
from suffice.errors import NotADensity

if TYPE_CHECKING:
    from pathlib import Path


def with_density(path: Path, what: str = "typicality") -> Saved:
    """Return a model that has class densities, or refuse one that has none."""
    saved = load_saved(path)
    if not hasattr(saved.estimator, what):
        raise NotADensity(
            f"{path} is a {type(saved.estimator).__name__}: it says nothing about p(x), "
            f"so it has no {what}",
            hint="gda, qda and naive-bayes have one",
        )
    return saved
