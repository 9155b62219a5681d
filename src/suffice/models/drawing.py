"""Classes drawn from their priors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting, listed

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray, Label


def drawn_codes(
    labels: tuple[Label, ...],
    log_priors: FloatArray,
    size: int,
    rng: np.random.Generator,
    label: Label | None,
) -> IntArray:
    """Return the places of `size` classes drawn from the priors, or of one given class."""
    if label is None:
        priors = np.exp(log_priors)
        return rng.choice(len(labels), size=size, p=priors / priors.sum()).astype(np.intp)
    if label not in labels:
        raise BadSetting(f"there is no class {label!r}", hint=f"the classes are {listed(labels)}")
    return np.full(size, labels.index(label), dtype=np.intp)
