"""The types of labels: what they are called, and how they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadFile, BadLabels, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import Label


def label_kind(classes: NDArray[np.generic]) -> str:
    """Return what labels are: booleans, integers, floats, text, or the name of their type."""
    kinds = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "text"}
    if classes.dtype.kind in kinds:
        return kinds[classes.dtype.kind]
    names = {type(v).__name__ for v in classes.tolist()}
    return "text" if names == {"str"} else listed(sorted(names))


def check_label_kinds(known: str, new: str) -> None:
    """Refuse labels of another type than those learned so far: 1 and True are not the same."""
    if known != new:
        raise BadLabels(
            f"labels were {known} before and are {new} now",
            hint="use labels of one type: all of them text, or all of them numbers",
        )


def class_array(labels: tuple[Label, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """Return labels as an array of their own type."""
    if dtype.kind in "US":
        return np.array(labels)
    result = np.empty(len(labels), dtype=dtype)
    for i, label in enumerate(labels):
        result[i] = label
    return result


def joined_dtype(left: np.dtype[np.generic], right: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return a type for the labels of both."""
    return np.result_type(left, right) if left != right else left


def stored_dtype(dtype: np.dtype[np.generic]) -> str:
    """Return the type of labels as text."""
    return dtype.str


def restored_dtype(text: object) -> np.dtype[np.generic]:
    """Return the type of labels that a text names: truths, numbers, text, dates or objects."""
    found = np.dtype(str(text)[:16])
    if found.kind not in "biufUOSMm" or found.names is not None:
        raise BadFile(f"{text!r} is not a type of labels", hint="the file is damaged")
    return found
