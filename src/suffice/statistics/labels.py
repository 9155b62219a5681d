"""Labels as keys: their order, and their way into plain arrays and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadLabels
from suffice.rows import sorted_levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from suffice.rows import Label


def ordered(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return labels in their own order or, where they have none, by kind.

    >>> ordered(["spam", "ham"])
    ('ham', 'spam')
    """
    held = list(labels)
    return tuple(held[place] for place in sorted_levels(held))


def labels_to_array(labels: Iterable[Label]) -> NDArray[np.uint8]:
    """Return labels as the bytes of a JSON text: exact for text, numbers, booleans and None.

    Arrays of text would drop trailing NUL characters, and arrays of objects need pickle.
    """
    held = list(labels)
    for label in held:
        if label is not None and type(label) not in (str, int, float, bool):
            raise BadLabels(
                f"label {label!r} is a {type(label).__name__}, which has no plain form to store",
                hint="use text, numbers or booleans as labels where statistics are to be stored",
            )
    text = json.dumps(held, ensure_ascii=True)
    return np.frombuffer(text.encode("ascii"), dtype=np.uint8)


def labels_from_array(array: NDArray[np.uint8]) -> tuple[Label, ...]:
    """Return the labels that `labels_to_array` was given."""
    return tuple(json.loads(np.asarray(array, dtype=np.uint8).tobytes().decode("ascii")))
