"""Whether an object has the form that its kind has: it is read before it is believed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.files.forms import FORMS
from suffice.files.kinds import STATISTICS, name_of
from suffice.files.rules import RULES
from suffice.files.stored_labels import are_labels
from suffice.files.text_rules import TEXT_RULES
from suffice.statistics.labels import ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Sizes = dict[str, int]

MODERATE = {
    "moderate": (-1e150, 1e150),
    "deviation": (1e-100, 1e300),
    "unit": (1e-170, 1e170),
}
"""What can be fitted lies between these. Beyond, squares and inverses of numbers in units of the
standard deviations, or the deviations themselves, would leave the range of a double."""
MOST = 1 << 53
"""Counts are smaller: beyond, they are no places in an array."""
TYPES = {"truth": "bool", "place": "int64", "key": "uint64"}
"""The types of arrays by the word of their form; all others are of doubles."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form, read: a word and a shape, classes or what is inside a tuple."""

    word: str
    shape: tuple[str, ...]
    optional: bool = False
    inner: Form | None = None
    classes: tuple[str, ...] = ()


@cache
def form_of(text: str) -> Form:
    """Return a form from its text."""
    optional = text.startswith("?")
    text = text.removeprefix("?")
    if text.startswith("("):
        inner, _, shape = text[1:].rpartition(")")
        return Form("tuple", tuple(shape.split()), optional, form_of(inner))
    word, *sizes = text.split()
    if word.startswith("="):
        return Form("object", tuple(sizes), optional, None, tuple(word[1:].split("|")))
    return Form(word, tuple(sizes), optional)


def check_form(value: Any, place: str) -> Sizes:
    """Refuse an object that has not the form of its kind; return its sizes, by letter."""
    name = name_of(value)
    if name in ("ByClass", "ByPattern"):
        return _check_groups(value, place, name)
    sizes: Sizes = {}
    for field, form in FORMS.get(name, {}).items():
        _check(getattr(value, field), form_of(form), f"{place}.{field}", sizes)
    if name in STATISTICS:
        _check_others(value, FORMS.get(name, {}), place)
    rule = RULES.get(name) or TEXT_RULES.get(name)
    if rule is not None and (why := rule(value, sizes)):
        raise refusal(place, why)
    return sizes


def _check_others(value: Any, known: Mapping[str, str], place: str) -> None:
    """Refuse numbers that are none in fields of statistics that have no form of their own."""
    for field in fields(value):
        held: Any = None if field.name in known else getattr(value, field.name)
        array = isinstance(held, np.ndarray) and held.dtype.kind == "f"
        if (array or isinstance(held, float)) and np.isnan(held).any():
            raise refusal(f"{place}.{field.name}", "holds what is no number")


def _check(value: Any, form: Form, place: str, sizes: Sizes) -> None:
    if value is None and form.optional:
        return
    if form.word == "object":
        if name_of(value) not in form.classes:
            raise refusal(place, f"is a {type(value).__name__}")
        inner = check_form(value, place)
        _bind([inner.get(letter, 0) for letter in form.shape], form.shape, place, sizes)
    elif form.word == "tuple":
        assert form.inner is not None
        if type(value) is not tuple:
            raise refusal(place, f"is a {type(value).__name__}")
        for i, item in enumerate(value):
            _check(item, form.inner, f"{place}[{i}]", sizes)
        _bind([len(value)], form.shape or ("*",), place, sizes)
    elif form.word == "labels":
        _check_labels(value, form, place)
        _bind([len(value)], form.shape, place, sizes)
    elif form.word == "places":
        _check_places(value, place)
    elif form.shape:
        _check_array(value, form, place, sizes)
    else:
        _check_one(value, form.word, place)


def _check_labels(value: Any, form: Form, place: str) -> None:
    if type(value) is not tuple or not are_labels(value) or len(set(value)) < len(value):
        raise refusal(place, "are no labels")
    if form.shape != ("*",) and value != ordered(value):
        raise refusal(place, "are not in order")


def _check_places(value: Any, place: str) -> None:
    if isinstance(value, range):
        if value and min(value[0], value[-1]) < 0:
            raise refusal(place, "are no places")
        return
    if type(value) is not tuple or not all(type(j) is int and j >= 0 for j in value):
        raise refusal(place, "are no places")


def _check_array(value: Any, form: Form, place: str, sizes: Sizes) -> None:
    expected = TYPES.get(form.word, "float64")
    if not isinstance(value, np.ndarray) or value.dtype.name != expected:
        raise refusal(place, f"is no array of {expected}")
    if value.ndim != len(form.shape):
        raise refusal(place, f"has the shape {value.shape}")
    _bind(value.shape, form.shape, place, sizes)
    if form.word == "key":
        if not (value[1:] > value[:-1]).all():
            raise refusal(place, "are not in order, each once")
        return
    if value.size and form.word != "truth":
        low, high = float(value.min()), float(value.max())  # NaN, where there is one
        if not _allowed(form.word, low) or not _allowed(form.word, high):
            raise refusal(place, f"holds {low:g} to {high:g}, which no {form.word} is")


def _check_one(value: Any, word: str, place: str) -> None:
    kinds: tuple[type, ...] = {"count": (int,), "text": (str,), "truth": (bool,)}.get(
        word, (int, float)
    )
    if type(value) not in kinds or (word not in ("text", "truth") and not _allowed(word, value)):
        raise refusal(place, f"is {value!r:.30}: it is no {word}")


def _allowed(word: str, value: float) -> bool:
    if word == "log":
        return value == value  # noqa: PLR0124  not NaN
    if word in MODERATE:
        low, high = MODERATE[word]
        return low <= value <= high
    if word == "count" and value > MOST:
        return False
    low = {"float": -np.inf, "scale": 0.0}.get(word, -0.5)
    return low < value < np.inf and (word not in ("weight", "count", "place") or value >= 0)


def _bind(found: Sequence[int], letters: Sequence[str], place: str, sizes: Sizes) -> None:
    for size, letter in zip(found, letters, strict=True):
        if letter != "*" and sizes.setdefault(letter, size) != size:
            raise refusal(place, f"has {size} where {sizes[letter]} belong")


def _check_groups(value: Any, place: str, name: str) -> Sizes:
    """Check statistics by class or by pattern: all groups have one kind and one width."""
    kinds = {name_of(group) for group in value.groups.values()}
    known = {
        "ByClass": {
            "Moments",
            "DiagonalMoments",
            "Totals",
            "ByColumn",
            "NgramCounts",
            "TermCounts",
        },
        "ByPattern": {"Moments", "PooledMoments", "ByClass"},
    }[name]
    if len(kinds) > 1 or not kinds <= known:
        raise refusal(place, f"holds groups of {sorted(kinds)}")
    sizes: Sizes = {}
    for key, group in value.groups.items():
        found = check_form(group, f"{place}[{key!r:.20}]")
        if name == "ByPattern":
            pattern: bytes = key
            seen = pattern.count(1)
            if len(pattern) != value.width or seen + pattern.count(0) != value.width:
                raise refusal(place, "has a pattern that is none")
            if found.get("d", seen) != seen:
                raise refusal(place, f"has {found['d']} columns under a pattern of {seen}")
            continue
        for letter in ("d", "g"):
            if letter in found:
                _bind([found[letter]], [letter], place, sizes)
    if name == "ByPattern":
        sizes["d"] = value.width
    elif not are_labels(value.groups):
        raise refusal(place, "has groups that are no classes")
    return sizes


def refusal(place: str, why: str) -> BadFile:
    """Return the refusal of a part of a file."""
    why = re.sub(r"\s+", " ", why)
    return BadFile(f"{place[:80]} {why[:120]}", hint="the file is damaged: write it again")
