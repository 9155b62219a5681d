"""Naive Bayes with chosen families against scikit-learn's GaussianNB, on every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from tests.reference.data_sets import manifest, names
from tests.reference.naive_bayes_tables import baseline, scores

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only naive_bayes"
SHARE = 0.85
WIDE = 100
NARROW = ('NaiveBayes("select", temperature="held-out")',)
"""Choosing families takes minutes where columns are hundreds: done once for those."""


def width(name: str) -> int:
    """Return how many columns a table has."""
    return int(manifest()[name]["features"])


def measure() -> Iterator[Figure]:
    """Yield the share of tables won, for each setting, and the median log-losses."""
    theirs = baseline()
    tables = [name for name in names() if name in theirs]
    settings = {
        'NaiveBayes("select")': {"families": "select"},
        'NaiveBayes("select", temperature="held-out")': {
            "families": "select",
            "temperature": "held-out",
        },
        "NaiveBayes()": {},
        'NaiveBayes(temperature="held-out")': {"temperature": "held-out"},
    }
    for called, setting in settings.items():
        chosen = [name for name in tables if called not in NARROW or width(name) <= WIDE]
        ours = {name: scores(name, **setting).log_loss for name in chosen}
        won = [name for name in chosen if ours[name] < theirs[name]]
        lost = [name for name in chosen if name not in won]
        median, peer = (float(np.median([s[name] for name in chosen])) for s in (ours, theirs))
        is_claim = called == 'NaiveBayes("select")'
        yield Figure(
            f"{called} has a lower log-loss than scikit-learn's GaussianNB (median {median:.3f} "
            f"against {peer:.3f}) on tables as they are, the same folds"
            + (f"; not on {', '.join(lost)}" if lost else ""),
            f"{len(won)} of {len(chosen)}",
            f"at least {SHARE:.0%}" if is_claim else "reported",
            len(won) >= SHARE * len(chosen) or not is_claim,
            COMMAND,
        )
