"""Missing cells: EM and marginalising against mean imputation, on every numeric table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.evidence import Figure
from tests.reference.data_sets import numeric_names
from tests.reference.imputation import compared

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only missing"
SPLITS, WIDE_SPLITS = 8, 1
MOST_WIDTH, WIDEST, PER_CLASS_WIDTH = 100, 300, 25
WIDE_PATTERNS = 30
"""Wider tables have fewer patterns of missing cells: EM solves one system for each."""


def measure() -> Iterator[Figure]:
    """Yield on how many tables the held-out log-loss is better, for both full forms."""
    narrow = numeric_names(MOST_WIDTH)
    wide = [name for name in numeric_names(WIDEST) if name not in narrow]
    for form, least in (("shared", 0.8), ("per-class", 0.0)):
        if form == "shared":
            losses = {name: compared(name, form, SPLITS) for name in narrow}
            losses |= {name: compared(name, form, WIDE_SPLITS, WIDE_PATTERNS) for name in wide}
        else:
            losses = {n: compared(n, form, SPLITS) for n in numeric_names(PER_CLASS_WIDTH)}
        worse = sorted(name for name, (ours, theirs) in losses.items() if ours >= theirs)
        better = len(losses) - len(worse)
        yield Figure(
            f"a fifth of all cells missing, {form}: held-out log-loss better than with mean "
            "imputation",
            f"{better} of {len(losses)} tables (not on {', '.join(worse) or 'none'})",
            f"at least {least:.0%}" if least else "none: told for comparison",
            better >= least * len(losses),
            COMMAND,
        )
