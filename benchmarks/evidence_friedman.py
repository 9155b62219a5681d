"""Friedman's 24 cells, 25 draws each."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from suffice.errors import SufficeWarning
from tests.reference.friedman import KNOWN, allowed, errors

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only friedman"
DRAWS = 25


def measure() -> Iterator[Figure]:
    """Yield the error of covariance="auto" in every cell, next to Friedman's method."""
    within = 0
    for (setting, width), (known, spread) in KNOWN.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            found = errors(setting, width, DRAWS)
        error, own_spread = float(found.mean()), float(found.std(ddof=1)) / np.sqrt(DRAWS)
        bound = allowed(setting, width, own_spread)
        within += error <= bound
        yield Figure(
            f'Friedman {setting}, {width} columns: error of "auto"',
            f"{error:.3f} ({own_spread:.3f}); regularized {known:.3f} ({spread:.3f})",
            f"at most {bound:.3f}",
            error <= bound,
            COMMAND,
        )
    yield Figure(
        'Friedman: cells in which "auto" is within the bound',
        f"{within} of {len(KNOWN)}",
        "all",
        within == len(KNOWN),
        COMMAND,
    )
