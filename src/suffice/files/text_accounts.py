"""What a stored model of texts holds, in words and in lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray

EVENTS = {
    "bernoulli": "each term is in a document or not, independently of the others",
    "boolean": "the different terms of a document are drawn one by one",
    "complement": "a document is compared with those of all other classes",
    "multinomial": "the terms of a document are drawn one by one",
}


def text_assumptions(model: Any) -> list[str]:
    """Return what is assumed about documents."""
    found = []
    if model.terms is not None:
        kinds = sum(group.width for group in model.term_counts.groups.values())
        found += [
            f"{EVENTS[model.terms.event]} ({kinds:,} counts)",
            f"a term of a class has been seen {model.smoothing:.3g} times more than it was",
        ]
    if model.language is not None:
        counts = model.ngram_counts.groups.values()
        found.append(
            f"a byte of a text depends on the {model.language.order - 1} before it "
            f"({sum(group.width for group in counts):,} counts)"
        )
    if model.factors is not None:
        told = ", ".join(f"{factor:.3g}" for factor in model.factors)
        found.append(f"but a text of n terms or bytes says what {told} times √n would say alone")
    return found


def document_lengths(model: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return how many terms and bytes a document of each class has, as names and means (k, p)."""
    given = {"terms of a document": model.term_counts, "bytes of a document": model.ngram_counts}
    held = {name: counts for name, counts in given.items() if counts is not None}
    sums = [
        [counts.groups[label].counts.sum() for counts in held.values()] for label in model.labels
    ]
    return tuple(held), np.array(sums) / model.weights[:, np.newaxis]
