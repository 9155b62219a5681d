"""Objects as JSON trees with arrays beside them, and back: only of kinds that are known.

Plain values are themselves, and so are dictionaries with words for keys. Everything else is an
object with the key "is": a tuple, a dictionary of other keys, an array (by its place), words, a
float that JSON has no word for, columns, statistics (by their arrays), or one of the known
dataclasses (by its fields). Reading makes nothing but these; a tree that asks for anything else is
refused.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import Column, Columns
from suffice.errors import BadFile
from suffice.statistics.labels import READ, is_label, read_label, written_label
from suffice.storage.known_classes import STATISTICS, class_named, has_fields, name_of
from suffice.storage.stored_labels import are_labels, are_levels, check_texts
from suffice.storage.tree_checks import DEEPEST, LONGEST_WORD, WHOLE
from suffice.storage.tree_checks import strange as _unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.storage.archive import PackedArrays, StoredArrays

ENDLESS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""Numbers that JSON has no form for, by what stands for them."""


def planted(value: object, arrays: PackedArrays) -> object:  # noqa: PLR0912  one for each kind
    """Return a value as a JSON tree; its arrays are put beside it.

    >>> from suffice.storage.archive import PackedArrays
    >>> planted((1, float("inf")), PackedArrays())
    {'is': 'tuple', 'items': [1, {'is': 'float', 'value': 'inf'}]}
    """
    if isinstance(value, (np.bool_, np.integer)):
        value = value.item()
    if value is None or type(value) in (bool, str) or (type(value) is int and abs(value) < WHOLE):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else {"is": "float", "value": str(number)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U":
            return _planted_words(value)
        return arrays.add(value)
    if type(value) in (tuple, list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"is": kind, "items": [planted(item, arrays) for item in value]}  # type: ignore[attr-defined]
    if isinstance(value, range):
        return {"is": "range", "ends": [value.start, value.stop, value.step]}
    if isinstance(value, dict):
        if "is" not in value and all(type(key) is str for key in value):
            return {key: planted(held, arrays) for key, held in value.items()}
        pairs = [[planted(key, arrays), planted(held, arrays)] for key, held in value.items()]
        return {"is": "dict", "pairs": pairs}
    name = name_of(value)
    if name == "Columns":
        return _planted_columns(value, arrays)  # type: ignore[arg-type]
    if name in STATISTICS:
        held = value.to_arrays()  # type: ignore[attr-defined]
        return {"is": name, "arrays": planted({k: np.asarray(v) for k, v in held.items()}, arrays)}
    if name and has_fields(name):
        kept = {
            f.name: getattr(value, f.name) for f in _fields(type(value)) if _is_written(f, value)
        }
        return {"is": name, "fields": {key: planted(v, arrays) for key, v in kept.items()}}
    if is_label(value):
        return written_label(value)  # dates, bytes and the like
    raise BadFile(
        f"a {type(value).__name__} cannot be stored: {value!r:.60}",
        hint="use text, numbers, true/false and the objects of suffice in settings and labels",
    )


def _planted_words(words: Any) -> dict[str, object]:
    items = words.ravel().tolist()
    if max(map(len, items), default=0) > LONGEST_WORD:
        raise BadFile(
            f"an array of text that contains {max(items, key=len)!r:.60} cannot be stored",
            hint="give settings and labels as lists",
        )
    return {"is": "words", "shape": list(words.shape), "items": items}


def _planted_columns(columns: Columns, arrays: PackedArrays) -> dict[str, object]:
    """Return a schema with one list for each property: there may be many columns."""
    levels = {str(j): c.levels for j, c in enumerate(columns.columns) if c.levels}
    return {
        "is": "Columns",
        "names": [column.name for column in columns.columns] if columns.named else None,
        "kinds": [column.kind for column in columns.columns],
        "levels": {j: [planted(level, arrays) for level in held] for j, held in levels.items()},
    }


def grown(tree: object, arrays: StoredArrays, depth: int = 0) -> Any:
    """Return the value that `planted` was called on, of a tree that `TreeCheck` has looked through.

    >>> from suffice.storage.archive import StoredArrays
    >>> grown({"is": "tuple", "items": [1, {"is": "float", "value": "inf"}]}, StoredArrays({}))
    (1, inf)
    """
    if tree is None or isinstance(tree, (bool, str)):
        return tree
    if isinstance(tree, (int, float)):
        if abs(tree) >= WHOLE and not (isinstance(tree, float) and math.isfinite(tree)):
            raise _unknown(tree)
        return tree
    below = depth + 1
    if depth > DEEPEST or not isinstance(tree, dict):
        raise _unknown(tree)
    if "is" not in tree:
        return {key: grown(held, arrays, below) for key, held in tree.items()}
    kind = tree["is"]
    if not isinstance(kind, str):
        raise _unknown(tree)
    if kind in STATISTICS:
        held = grown(tree["arrays"], arrays, below)
        check_texts(held)
        return class_named(kind).from_arrays(held)
    if kind in GROWN:
        return GROWN[kind](tree, arrays, below)
    if has_fields(kind):
        return _made(class_named(kind), tree["fields"], arrays, below)
    raise _unknown(tree)


def _grown_words(tree: dict[str, Any], *_: object) -> object:
    if not all(type(word) is str for word in tree["items"]):
        raise _unknown(tree)
    return np.array(tree["items"], dtype=str).reshape(tree["shape"])


def _grown_items(tree: dict[str, Any], arrays: StoredArrays, depth: int) -> object:
    items = [grown(item, arrays, depth) for item in tree["items"]]
    return tuple(items) if tree["is"] == "tuple" else items


def _grown_pairs(tree: dict[str, Any], arrays: StoredArrays, depth: int) -> object:
    pairs = [(grown(k, arrays, depth), grown(v, arrays, depth)) for k, v in tree["pairs"]]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _unknown(tree)
    return found


def _grown_columns(tree: dict[str, Any], arrays: StoredArrays, depth: int) -> Columns:
    names, kinds, held = tree["names"], tree["kinds"], tree["levels"]
    levels = {
        int(j): tuple(grown(level, arrays, depth) for level in some) for j, some in held.items()
    }
    known = len(levels) == len(held) and all(0 <= j < len(kinds) for j in levels)
    words = kinds if names is None else [*kinds, *names]
    if not known or not all(type(word) is str for word in words):
        raise _unknown(tree)
    if not all(are_labels(some) and are_levels(some) for some in levels.values()):
        raise _unknown(tree)
    if names is None:  # columns without names are told apart by their levels alone
        plain = {kind: Column(None, kind) for kind in set(kinds)}
        found = [
            Column(None, kind, levels[j]) if j in levels else plain[kind]
            for j, kind in enumerate(kinds)
        ]
    else:
        pairs = zip(names, kinds, strict=True)
        found = [Column(name, kind, levels.get(j, ())) for j, (name, kind) in enumerate(pairs)]
    return Columns(tuple(found))


GROWN: dict[str, Callable[[Any, StoredArrays, int], object]] = {
    "Columns": _grown_columns,
    "array": lambda tree, arrays, _: arrays.take(tree),
    "dict": _grown_pairs,
    "float": lambda tree, *_: ENDLESS[tree["value"]],
    "list": _grown_items,
    "range": lambda tree, *_: range(*tree["ends"]),
    **dict.fromkeys(READ, lambda tree, *_: read_label(tree)),
    "tuple": _grown_items,
    "words": _grown_words,
}
"""How the trees of what is not a dataclass become what they were."""


def _made(kind: Any, given: dict[str, Any], arrays: StoredArrays, depth: int) -> object:
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
            f"{sorted(lacking) or 'nothing'} is not known"[:200],
            hint="the file may be of a newer version: pip install --upgrade suffice",
        )
    return kind(**{name: grown(tree, arrays, depth) for name, tree in given.items()})


def _is_written(field: Any, value: Any) -> bool:
    """Whether a field is written: one that came later only where it says something.

    So models without it are written as they always were, and older programs can read them.
    """
    if not field.metadata.get("later"):
        return True
    held = getattr(value, field.name)
    return held is not None if field.default is None else bool(held != field.default)


def _fields(kind: Any) -> list[Any]:
    return [field for field in fields(kind) if field.init]
