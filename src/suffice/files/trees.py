"""Objects as JSON trees with arrays beside them, and back: only of kinds that are known.

Plain values are themselves, and so are dictionaries with words for keys. Everything else is an
object with the key "is": a tuple, a dictionary of other keys, an array (by name), a float that JSON has no word for, statistics (by their arrays), or one of the
known dataclasses (by its fields). Reading makes nothing but these; a tree that asks for anything
else is refused.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.files.kinds import DATACLASSES, STATISTICS, class_named, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

DEEPEST = 40
"""How deep a tree may be: known objects nest less than ten deep."""
MOST_NUMBER = 1 << 60


def planted(value: object, arrays: Arrays) -> Any:
    """Return a value as a JSON tree; its arrays are put beside it, under names of their own.

    >>> arrays = {}
    >>> planted((1, float("inf")), arrays)
    {'is': 'tuple', 'items': [1, {'is': 'float', 'value': 'inf'}]}
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else {"is": "float", "value": str(number)}
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"is": "array", "name": name}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"is": kind, "items": [planted(item, arrays) for item in value]}
    if isinstance(value, range):
        return {"is": "range", "ends": [value.start, value.stop, value.step]}
    if isinstance(value, dict):
        if "is" not in value and all(type(key) is str for key in value):
            return {key: planted(held, arrays) for key, held in value.items()}
        pairs = [[planted(key, arrays), planted(held, arrays)] for key, held in value.items()]
        return {"is": "dict", "pairs": pairs}
    name = name_of(value)
    if name in STATISTICS:
        held = value.to_arrays()  # type: ignore[attr-defined]
        return {"is": name, "arrays": planted({k: np.asarray(v) for k, v in held.items()}, arrays)}
    if name in DATACLASSES:
        kept = {field.name: getattr(value, field.name) for field in _fields(type(value))}
        return {"is": name, "fields": {key: planted(v, arrays) for key, v in kept.items()}}
    raise BadFile(
        f"a {type(value).__name__} has no plain form to store: {value!r:.60}",
        hint="use text, numbers, truths and the objects of suffice in settings and labels",
    )


def grown(tree: Any, arrays: Arrays, depth: int = 0) -> Any:
    """Return the value that `planted` was called on.

    >>> grown({"is": "tuple", "items": [1, {"is": "float", "value": "inf"}]}, {})
    (1, inf)
    """
    if depth > DEEPEST:
        raise BadFile("the tree of the model is too deep", hint="write the file again")
    if tree is None or isinstance(tree, (bool, int, float, str)):
        return tree
    below = depth + 1
    if isinstance(tree, dict) and "is" not in tree:
        return {key: grown(held, arrays, below) for key, held in tree.items()}
    if not isinstance(tree, dict) or not isinstance(tree["is"], str):
        raise _unknown(tree)
    kind = tree["is"]
    if kind == "float":
        return float({"inf": "inf", "-inf": "-inf", "nan": "nan"}[tree["value"]])
    if kind == "array":
        return arrays[tree["name"]]
    if kind in ("tuple", "list"):
        items = [grown(item, arrays, below) for item in tree["items"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "range":
        start, stop, step = (int(end) for end in tree["ends"])
        if max(abs(start), abs(stop), abs(step)) > MOST_NUMBER:
            raise _unknown(tree)
        return range(start, stop, step)
    if kind == "dict":
        pairs = [(grown(k, arrays, below), grown(v, arrays, below)) for k, v in tree["pairs"]]
        return dict(pairs)
    if kind in STATISTICS:
        return class_named(kind).from_arrays(grown(tree["arrays"], arrays, below))
    if kind in DATACLASSES:
        return _made(class_named(kind), tree["fields"], arrays, below)
    raise _unknown(tree)


def _made(kind: Any, given: dict[str, Any], arrays: Arrays, depth: int) -> Any:
    """Return an object of a known dataclass; fields added later have their defaults."""
    known = {field.name: field for field in _fields(kind)}
    strange = set(given) - set(known)
    lacking = {
        name
        for name, field in known.items()
        if name not in given and field.default is MISSING and field.default_factory is MISSING
    }
    if strange or lacking:
        raise BadFile(
            f"a {kind.__name__} with {sorted(strange) or 'nothing strange'} and without "
            f"{sorted(lacking) or 'nothing'} is not known",
            hint="the file may be of a newer version: pip install --upgrade suffice",
        )
    return kind(**{name: grown(tree, arrays, depth) for name, tree in given.items()})


def _fields(kind: Any) -> list[Any]:
    return [field for field in fields(kind) if field.init]


def _unknown(tree: Any) -> BadFile:
    return BadFile(f"{tree!r:.60} is nothing that a model is made of", hint="write the file again")
