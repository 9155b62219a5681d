"""Models that know p(x | y), and can therefore say how typical a row is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.errors import NotADensity
from suffice.training.saved_models import Saved, load_saved

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def with_density(path: Path, what: str = "typicality") -> Saved:
    """Return a model that has class densities, or refuse one that has none."""
    saved = load_saved(path, hidden=True)
    check_density(path, saved, what)
    return saved


def check_density(path: Path, saved: Saved, what: str = "typicality") -> None:
    """Refuse a model that has no class densities."""
    if not saved.offers(what):
        cannot = "cannot generate rows" if what == "sample" else "cannot say how typical a row is"
        raise NotADensity(
            f"{path} is a {saved.name}: it has no model of p(x), and {cannot}",
            hint="gda, qda and naive-bayes can: fit one of them with --model",
        )


def drawn_rows(
    saved: Saved, size: int, label: object, rng: object, *, bounded: bool = True
) -> tuple[object, NDArray[np.generic]]:
    """Return rows that a model makes up, of one class or of all, and the class of each."""
    found: tuple[object, NDArray[np.generic]]
    if saved.is_hidden:
        within = {} if bounded else {"within": None}
        found = saved.model.sample(size, rng, component=label, **within)
        return found
    learned = saved.model
    if learned.frame is not None:  # cells are printed: no library of frames is loaded for them
        learned = replace(learned, frame=None).knowing(learned.fit)
    if bounded or saved.name == "TextClassifier":
        found = learned.sample(size, label, rng)
    else:
        found = learned.sample(size, label, rng, within=None)
    return found
