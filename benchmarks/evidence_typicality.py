"""Typicality as a p-value: how often it is small, at 5, 7 and 20 rows a class, 1, 3, 10 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.evidence import Figure
from suffice import GaussianDiscriminant, NaiveBayes
from tests.reference.typicality import (
    EXACT,
    FAMILIES,
    FORMS,
    drawn,
    mixed_model,
    mixed_rows,
    shares_below,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = "python -m benchmarks.evidence --only typicality"
CLASSES, COUNTED = 2000, 600
"""Classes that are learned and judged for one share, 20 rows each; fewer where columns count."""
SIZES, WIDTHS, LEVELS = (5, 7, 20), (1, 3, 10), (0.05, 0.01)


def measure(share: float = 1.0) -> Iterator[Figure]:
    """Yield the extremes of shares over all sizes and widths, form by form, family by family."""
    classes, counted = int(share * CLASSES), int(share * COUNTED)
    for form in FORMS:
        few = form.startswith("shared")  # with many classes a shared scatter has many rows
        yield from _figures(
            f"{form} covariance, normal rows",
            lambda form=form: GaussianDiscriminant(form),
            lambda d: lambda rng, size: drawn("normal", rng, size, d),
            2 if few else 40,
            classes,
            # With more columns than rows, columns are judged one by one.
            exact=form != "per-class",
        )
    for name, (kind, family) in FAMILIES.items():
        yield from _figures(
            f"naive Bayes, {name}",
            lambda family=family: NaiveBayes(family),
            lambda d, kind=kind: lambda rng, size: drawn(kind, rng, size, d),
            2 if name == "shared-gaussian" else 10,
            classes if name in EXACT else counted,
            exact=name in EXACT,
        )
    yield from _figures(
        "naive Bayes, ten columns of five kinds",
        mixed_model, lambda _: mixed_rows, 10, counted, exact=False, widths=(10,),
    )  # fmt: skip


def _figures(
    told: str,
    model: Callable[[], Any],
    draw: Callable[[int], Any],
    k: int,
    classes: int,
    *,
    exact: bool,
    widths: tuple[int, ...] = WIDTHS,
) -> Iterator[Figure]:
    for what, settings in (
        ("new rows", {}),
        ("rows of the fit, with y", {"training": True}),
        ("new rows, a fifth of all cells blank", {"gaps": 0.2}),
    ):
        if "gaps" in settings and ("shared" in told or "per-class" in told) and "naive" not in told:
            continue  # EM, and p-values that are said to be approximate
        found = [
            shares_below(
                model, draw(d), np.random.default_rng([n, d]), LEVELS, n=n, k=k,
                fits=max(2, classes // k), **settings,
            ).mean(axis=0)
            for n in SIZES for d in widths
        ]  # fmt: skip
        low, high = np.min(found, axis=0), np.max(found, axis=0)
        least = 0.04 if exact and "gaps" not in settings else 0.0
        bound = "4 % to 6 %" if least else "at most 6 %"
        yield Figure(
            f"{told}, {what}: p < 0.05 (and p < 0.01)",
            f"{low[0]:.1%} to {high[0]:.1%} ({low[1]:.2%} to {high[1]:.2%})",
            f"{bound} (at most 1.5 %)",
            bool(least <= low[0] and high[0] <= 0.06 and high[1] <= 0.015),
            f"{COMMAND}",
        )
