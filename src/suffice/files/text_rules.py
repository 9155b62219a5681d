"""What holds inside counts and models of texts besides the form of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.files.rules import exceeds, priors
from suffice.kernels.ngrams.texts import BITS, BOS, EOT, LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    Sizes = dict[str, int]

MOST_COUNT, MOST_SMOOTHING = 1e300, 1e100
"""Sums of such counts of texts are finite, and so is what is added to each."""
MOST_FACTOR = 1e6
"""By which scores of texts are multiplied: beyond, nothing could have been learned from any."""


def _terms(value: Any, sizes: Sizes) -> str:  # noqa: ARG001
    return "" if value.counts.max(initial=0.0) < MOST_COUNT else "has counts without a finite sum"


def _ngrams(value: Any, sizes: Sizes) -> str:
    """Bytes have BOS before them and nowhere else, and EOT at their end and nowhere else."""
    if why := _terms(value, sizes):
        return why
    if not 1 <= value.order <= LONGEST:
        return f"counts n-grams of {value.order} symbols"
    if value.keys.size and int(value.keys[-1]) >= 1 << BITS * value.order:
        return "has n-grams that are longer than its order"
    begun = np.zeros(len(value.keys), dtype=bool)
    for place in reversed(range(value.order)):
        symbols = (value.keys >> np.uint64(BITS * place)) & np.uint64((1 << BITS) - 1)
        strange = (symbols > EOT) | ((symbols == EOT) & (place > 0))
        strange |= (symbols == BOS) & (begun | (place == 0))
        if strange.any():
            return "has n-grams of no text"
        begun |= symbols != BOS
    return ""


def _text(value: Any, sizes: Sizes) -> str:
    """Counts are of the families that are told, class by class; the calibration is of both."""
    given = [(value.terms, value.term_counts, "TermCounts"),
             (value.language, value.ngram_counts, "NgramCounts")]  # fmt: skip
    many = sum(family is not None for family, _, _ in given)
    if value.smoothing > MOST_SMOOTHING:
        return f"is smoothed by {value.smoothing:g}"
    if many == 0 or (value.factors is None) != (value.shifts is None):
        return "has no event model, or half a calibration"
    if value.factors is not None and (sizes["m"] != many or value.factors.max() > MOST_FACTOR):
        return "has a calibration of other event models"
    if value.factors is None and many > 1:
        return "has two event models, and nothing that weighs them"
    for family, counts, kind in given:
        if (family is None) != (counts is None):
            return "has counts of other event models"
        if counts is None:
            continue
        if tuple(counts.labels) != value.labels:
            return "has counts of other classes"
        for label, weight in zip(value.labels, value.weights.tolist(), strict=True):
            group = counts.groups[label]
            if type(group).__name__ != kind or group.weight != weight or weight <= 0.0:
                return "has counts of other documents"
            if kind == "NgramCounts" and group.order != family.order:
                return "has n-grams of another order"
    once = value.terms is not None and value.terms.counts_once
    if once and any(exceeds(g.counts, g.weight) for g in value.term_counts.groups.values()):
        return "has terms in more documents than there are"
    return priors(value, sizes)


TEXT_RULES: dict[str, Callable[[Any, Sizes], str]] = {
    "NgramCounts": _ngrams,
    "TermCounts": _terms,
    "TextRecord": _text,
}
