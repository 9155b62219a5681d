"""Labels and levels on disk: they name classes, and so are text, numbers, truths or nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TEXTS = {"labels", "levels", "rows"}
"""Arrays of statistics that hold the bytes of a JSON text."""
LONGEST = 20
"""Digits of an integer. Beyond, unequal numbers may be made to have equal hashes, and a dictionary
of such labels would take hours to fill."""


def check_texts(arrays: Mapping[str, Any]) -> None:
    """Refuse texts in statistics that are no lists of labels, before anything is made of them."""
    for name, array in arrays.items():
        last = name.rpartition("/")[2]
        if last not in TEXTS:
            continue
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.ndim != 1:
            raise _refusal(name)
        try:
            found = json.loads(array.tobytes().decode("ascii"), parse_int=_whole)
        except (ValueError, RecursionError):
            raise _refusal(name) from None
        if not isinstance(found, list) or (last != "rows" and not are_labels(found)):
            raise _refusal(name)


def are_labels(values: Iterable[object]) -> bool:
    """Whether values can name classes, or be levels of a category.

    >>> are_labels(["ham", 1, True, None]), are_labels([(1, 2)]), are_labels([float("nan")])
    (True, False, False)
    """
    return all(
        value is None or (type(value) in (str, int, float, bool) and value == value)  # noqa: PLR0124
        for value in values
    )


def _whole(digits: str) -> int:
    if len(digits) > LONGEST:
        raise ValueError(digits[:LONGEST])
    return int(digits)


def _refusal(name: str) -> BadFile:
    return BadFile(
        f"the {name!r:.40} of the statistics are no labels",
        hint="the file is damaged: write it again",
    )
