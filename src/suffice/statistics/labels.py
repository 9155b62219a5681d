"""Labels as keys: their order, and their way into plain arrays and back."""

from __future__ import annotations

import json
import math
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from suffice.errors import BadLabels
from suffice.rows import sorted_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from suffice.rows import Label

PLAIN = (str, int, float, bool)
"""Labels that JSON has a form for."""
DIGITS = 20
"""Of an integer, or a decimal. Beyond, unequal numbers may be made to have equal hashes, and a
dictionary of such labels would take hours to fill."""
LARGEST = 1 << 64
"""Integers are smaller than this."""
NESTED = 8
"""How deep tuples may be in each other."""


def ordered(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return labels in their own order or, where they have none, by kind.

    >>> ordered(["spam", "ham"])
    ('ham', 'spam')
    """
    held = list(labels)
    kinds = set(map(type, held))
    if len(kinds) == 1 and not kinds.isdisjoint(PLAIN):  # most labels, and this is asked often
        return tuple(sorted(held))  # type: ignore[type-var]
    return tuple(held[place] for place in sorted_levels(held))


# Labels that JSON has no form for: {"is": what it is, "text": what it says}


def _span(text: str) -> timedelta:
    days, seconds, parts = (int(part) for part in text.split())
    return timedelta(days, seconds, parts)


def _decimal(text: str) -> Decimal:
    if not re.fullmatch(rf"-?[0-9.]{{1,{DIGITS}}}(E[+-]?[0-9]{{1,2}})?", text):
        raise ValueError(text[:DIGITS])
    return Decimal(text)


WRITTEN: dict[type, Callable[[Any], str]] = {
    bytes: bytes.hex,
    Decimal: str,
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
    timedelta: lambda span: f"{span.days} {span.seconds} {span.microseconds}",
    UUID: str,
}
"""How labels are written that JSON has no form for; `READ` is the way back."""
READ: dict[str, Callable[[str], object]] = {
    "bytes": bytes.fromhex,
    "Decimal": _decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": _span,
    "UUID": UUID,
}
"""How the text of a label becomes the label; whatever else it says is a ValueError."""


def written_label(label: Any, depth: int = 0) -> object:
    """Return a label as JSON can hold it, or refuse it: what is written can be read again.

    >>> written_label(("a", date(2026, 1, 31)))
    {'is': 'tuple', 'items': ['a', {'is': 'date', 'text': '2026-01-31'}]}
    """
    if isinstance(label, np.generic):
        label = label.item()  # inside a tuple; elsewhere labels are plain already
    kind = type(label)
    if label is None or (kind in PLAIN and _is_short(label)):
        return label
    if kind is tuple and depth < NESTED:
        return {"is": "tuple", "items": [written_label(part, depth + 1) for part in label]}
    if kind in WRITTEN:
        found = {"is": kind.__name__, "text": WRITTEN[kind](label)}
        try:
            again = read_label(found)
        except ValueError:
            again = None
        # Rows are found again by what their labels are called: a time zone of another kind is not.
        if again == label and repr(again) == repr(label):
            return found
    raise BadLabels(
        f"label {label!r:.60} is a {kind.__name__}, which cannot be stored",
        hint="use text, numbers, booleans, bytes, dates, or tuples of them as labels of models "
        "that are to be stored",
    )


def _is_short(label: object) -> bool:
    """Whether a plain label is finite, and no integer that is too long."""
    if type(label) is float:
        return math.isfinite(label)
    return type(label) is not int or abs(label) < LARGEST


def read_label(found: Any, depth: int = 0) -> Any:
    """Return the label that `written_label` was given; ValueError of anything else.

    >>> read_label({"is": "bytes", "text": "68616d"})
    b'ham'
    """
    if found is None or type(found) in PLAIN:
        if type(found) is float and found != found:  # noqa: PLR0124  NaN names no class
            raise ValueError("nan")
        return found
    kind: Any = found.get("is") if isinstance(found, dict) and len(found) == 2 else None
    if kind == "tuple" and isinstance(found.get("items"), list) and depth < NESTED:
        return tuple(read_label(part, depth + 1) for part in found["items"])
    text = found.get("text") if isinstance(kind, str) and kind in READ else None
    if not isinstance(text, str):
        raise ValueError(f"{found!r:.40}")  # noqa: TRY004  of all that is not a label, it is the same
    return READ[kind](text)


def is_label(value: object, depth: int = 0) -> bool:
    """Whether a value can name a class, or be a level of a category, and can be stored.

    >>> is_label(("ham", 1, None)), is_label(float("nan")), is_label([1])
    (True, False, False)
    """
    if value is None or type(value) in PLAIN:
        return value == value  # noqa: PLR0124
    if type(value) is tuple:
        return depth < NESTED and all(is_label(part, depth + 1) for part in value)
    return type(value) in WRITTEN


def labels_to_array(labels: Iterable[Label]) -> NDArray[np.uint8]:
    """Return labels as the bytes of a JSON text: exact for whatever can be read again.

    Arrays of text would drop trailing NUL characters, and arrays of objects need pickle.
    """
    text = json.dumps([written_label(label) for label in labels], ensure_ascii=True)
    return np.frombuffer(text.encode("ascii"), dtype=np.uint8)


def labels_from_array(array: NDArray[np.generic]) -> tuple[Label, ...]:
    """Return the labels that `labels_to_array` was given."""
    found = json.loads(np.asarray(array, dtype=np.uint8).tobytes().decode("ascii"))
    return tuple(label if type(label) is str else read_label(label) for label in found)
