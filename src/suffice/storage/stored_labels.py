"""Labels and levels on disk: they name classes, and so are text, numbers, dates, or tuples."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadFile
from suffice.statistics.labels import DIGITS, PLAIN, is_label, read_label

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

TEXTS = {"labels", "levels", "rows"}
"""Arrays of statistics that hold the bytes of a JSON text."""
MOST_PARTS = 1 << 23
"""Values in a JSON text, at most: one of brackets alone would need twenty times its size."""
ALIKE = 1000
"""Labels of one hash, at most: a dictionary looks through all of them, one after the other."""


def check_texts(arrays: Mapping[str, object]) -> None:
    """Refuse texts in statistics that are no lists of labels, before anything is made of them."""
    for name, array in arrays.items():
        last = name.rpartition("/")[2]
        if last not in TEXTS:
            continue
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.ndim != 1:
            raise _refusal(name)
        text = array.tobytes()
        if parts_of(text) > MOST_PARTS:
            raise _refusal(name)
        try:
            found = json.loads(text.decode("ascii"), parse_int=_whole)
            if not isinstance(found, list) or (last != "rows" and not _are_written(found)):
                raise _refusal(name)
        except (ValueError, RecursionError):
            raise _refusal(name) from None


def parts_of(text: bytes) -> int:
    """Return how many values a JSON text has, at most."""
    return sum(text.count(mark) for mark in (b"[", b"{", b","))


def are_labels(values: Collection[object]) -> bool:
    """Whether values can name classes, or be levels of a category.

    >>> are_labels(["ham", 1, True, None]), are_labels([(1, 2)]), are_labels([float("nan")])
    (True, True, False)
    """
    if not all(map(is_label, values)):
        return False
    if len(values) <= ALIKE or all(type(value) is str for value in values):
        return True
    # The same label again, as a level of another column, is found at once and does no harm.
    different = {f"{type(value).__name__} {value!r}": hash(value) for value in values}
    return max(Counter(different.values()).values()) <= ALIKE


def are_levels(values: Collection[object]) -> bool:
    """Whether values can be levels of a category: what a cell may hold, which is less.

    >>> are_levels(["red", 1, True]), are_levels([b"red"])
    (True, False)
    """
    return all(value is None or type(value) in PLAIN for value in values)


def _are_written(found: list[object]) -> bool:
    return are_labels([label if type(label) is str else read_label(label) for label in found])


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(digits[:DIGITS])
    return int(digits)


def _refusal(name: str) -> BadFile:
    return BadFile(
        f"the {name!r:.40} of the statistics are not labels",
        hint="the file is damaged: write it again",
    )
