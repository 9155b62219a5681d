"""Refusals that a cluster carries as text: as fields, which are not read out of sentences.

Where a task may return what it refuses, that is a result (`partitions.py`). Where it may not, as in
answers that an engine asks for when it likes, the engine tells the driver nothing but the text of
a traceback. A note of the refusal stands in there: its fields, in a form that no sentence has.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode, b64encode
from dataclasses import fields
from typing import Any, Final

from suffice import errors
from suffice.errors import SufficeError
from suffice.places import CellAt, CellsAt, ColumnAt, PartAt, Phrase, Place, RowAt, portable

MARK: Final = "suffice-refusal:"
"""What stands before the fields: a word that no sentence of ours has."""
NOTE: Final = re.compile(f"{MARK}([A-Za-z0-9+/=]+)")
"""A refusal in the text of a traceback."""
PLACES: Final = {one.__name__: one for one in (CellAt, CellsAt, ColumnAt, PartAt, Place, RowAt)}
"""What a sentence may name."""


def carrying(error: SufficeError) -> SufficeError:
    """Return a refusal whose traceback carries its fields.

    >>> from suffice.errors import NotFinite
    >>> error = NotFinite.of(1, "income", float("inf")).at(Place("partition 3", 1, 20))
    >>> found = carried(f"Traceback ... {carrying(error).__notes__[0]} at org.apache.spark")
    >>> type(found).__name__, found.row, found.column, found.value, found.place.first_row
    ('NotFinite', 1, 'income', inf, 1)
    >>> str(found) == str(error)
    True
    """
    made: Any = error.__reduce__()[1]
    kind, words, hint, place, within = made
    told = [kind.__name__, _plain(words), hint, _plain(place), _plain(within)]
    error.add_note(MARK + b64encode(json.dumps(told).encode()).decode())
    return error


def carried(text: str) -> SufficeError | None:
    """Return the refusal that the text of a traceback carries; None where it carries none."""
    found = NOTE.search(text)
    if found is None:
        return None
    try:
        name, words, hint, place, within = json.loads(b64decode(found[1], validate=True))
        kind = getattr(errors, name)
        if not issubclass(kind, SufficeError):
            return None
        told: SufficeError = kind(
            _restored(words), hint=hint, place=_restored(place), within=_restored(within)
        )
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, binascii.Error):
        return None  # cut off, or a cell that looks like it: then it is text like any other
    return told


def _plain(value: Any) -> Any:
    """Return a field as JSON has it; of a cell of any other type, how it is written."""
    value = portable(value)
    if isinstance(value, Phrase):
        return {"Phrase": [value.template, {k: _plain(v) for k, v in value.fields.items()}]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    name = type(value).__name__
    if name in PLACES:
        return {name: [_plain(getattr(value, one.name)) for one in fields(value)]}
    if value is None or isinstance(value, bool):
        return value
    for plain in (str, int, float):  # NumPy's own doubles are floats
        if isinstance(value, plain):
            return plain(value)
    return repr(value)


def _restored(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    ((name, held),) = value.items()
    if name == "Phrase":
        return Phrase(held[0], **{k: _restored(v) for k, v in held[1].items()})
    parts = [_restored(one) for one in held]
    return tuple(parts) if name == "tuple" else PLACES[name](*parts)
