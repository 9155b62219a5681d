"""Whether an object has the form that its kind has: it is read before it is believed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.statistics.algebra import exceeds
from suffice.statistics.labels import ordered
from suffice.storage.checks.forms import FORMS
from suffice.storage.checks.rules import RULES, laws_flaw, priors
from suffice.storage.known_classes import STATISTICS, name_of
from suffice.storage.stored_labels import are_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from suffice.statistics.keyed_counts import NgramCounts, TermCounts

    Sizes = dict[str, int]

LINEAR = (
    "AveragedForm",
    "LinearForm",
    "LogisticFit",
    "OnlinePerceptron",
    "PenaltyPath",
    "Separation",
    "Stochastic",
)
"""Classes whose rules are loaded where a file holds one: those of `linear_rules.LINEAR_RULES`."""
MIXTURES = (
    "ClassMixtures",
    "ClassStream",
    "ClassStreams",
    "MixtureLaws",
    "MixtureRecord",
    "MixtureStream",
    "StreamFrame",
)
"""The same of `mixture_rules.MIXTURE_RULES`."""


MODERATE = {
    "moderate": (-1e150, 1e150),
    "deviation": (1e-100, 1e300),
    "unit": (1e-170, 1e170),
}
"""What can be fitted lies between these. Beyond, squares and inverses of numbers in units of the
standard deviations, or the deviations themselves, would leave the range of a double."""
MOST = 1 << 53
"""Counts are smaller: beyond, they are not places in an array."""
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


def check_form(value: object, place: str) -> Sizes:
    """Refuse an object that has not the form of its kind; return its sizes, by letter."""
    name = name_of(value)
    if name in ("ByClass", "ByPattern"):
        return _check_groups(value, place, name)
    sizes: Sizes = {}
    for field, form in _form(value, name).items():
        _check(getattr(value, field), form_of(form), f"{place}.{field}", sizes)
    if name in STATISTICS:
        _check_others(value, FORMS.get(name, {}), place)
    rule = RULES.get(name) or TEXT_RULES.get(name)
    if rule is None and name in LINEAR:
        from suffice.storage.checks.linear_rules import LINEAR_RULES  # other models need none

        rule = LINEAR_RULES[name]
    if rule is None and name in MIXTURES:
        from suffice.storage.checks.mixture_rules import MIXTURE_RULES

        rule = MIXTURE_RULES[name]
    if rule is not None and (why := rule(value, sizes)):
        raise refusal(place, why)
    if _is_laws(value) and (why := laws_flaw(value, sizes)):
        raise refusal(place, why)
    return sizes


def _form(value: Any, name: str) -> Mapping[str, str]:
    """Return the form of an object's fields; families and their laws have their own."""
    found: Mapping[str, str] = FORMS.get(name, {})
    if name and (_is_family(value) or _is_laws(value)):
        found = type(value).form
    return found


def _is_family(value: object) -> bool:
    return hasattr(type(value), "becomes")


def _is_laws(value: object) -> bool:
    return hasattr(type(value), "column_scores")


def _check_others(value: Any, known: Mapping[str, str], place: str) -> None:
    """Refuse numbers that are none in fields of statistics that have no form of their own."""
    for field in fields(value):
        held: Any = None if field.name in known else getattr(value, field.name)
        array = isinstance(held, np.ndarray) and held.dtype.kind == "f"
        if (array or isinstance(held, float)) and np.isnan(held).any():
            raise refusal(f"{place}.{field.name}", "holds a value that is not a number")


def _check(value: Any, form: Form, place: str, sizes: Sizes) -> None:
    if value is None and form.optional:
        return
    if form.word == "object":
        if not _is_of(value, form.classes):
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


def _is_of(value: object, classes: tuple[str, ...]) -> bool:
    """Whether an object is of one of the classes, all of which are known."""
    name = name_of(value)
    if classes == ("family",):
        return bool(name) and _is_family(value)
    if classes == ("laws",):
        return bool(name) and _is_laws(value)
    return name in classes


def _check_labels(value: object, form: Form, place: str) -> None:
    if type(value) is not tuple or not are_labels(value) or len(set(value)) < len(value):
        raise refusal(place, "are not labels")
    if form.shape != ("*",) and value != ordered(value):
        raise refusal(place, "are not in order")


def _check_places(value: object, place: str) -> None:
    if isinstance(value, range):
        if value and min(value[0], value[-1]) < 0:
            raise refusal(place, "are not places")
        return
    if type(value) is not tuple or not all(type(j) is int and j >= 0 for j in value):
        raise refusal(place, "are not places")


def _check_array(value: object, form: Form, place: str, sizes: Sizes) -> None:
    expected = TYPES.get(form.word, "float64")
    if not isinstance(value, np.ndarray) or value.dtype.name != expected:
        raise refusal(place, f"is not an array of {expected}")
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
        raise refusal(place, f"is {value!r:.30}: it is not a {word}")


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
                raise refusal(place, "has an invalid pattern")
            if found.get("d", seen) != seen:
                raise refusal(place, f"has {found['d']} columns under a pattern of {seen}")
            continue
        for letter in ("d", "g"):
            if letter in found:
                _bind([found[letter]], [letter], place, sizes)
    if name == "ByPattern":
        sizes["d"] = value.width
    elif not are_labels(value.groups):
        raise refusal(place, "has groups that are not classes")
    return sizes


def refusal(place: str, why: str) -> BadFile:
    """Return the refusal of a part of a file."""
    why = re.sub(r"\s+", " ", why)
    return BadFile(f"{place[:80]} {why[:120]}", hint="the file is damaged: write it again")


MOST_COUNT, MOST_SMOOTHING = 1e300, 1e100
"""Sums of such counts of texts are finite, and so is what is added to each."""
MOST_FACTOR = 1e6
"""By which scores of texts are multiplied: beyond, nothing could have been learned from any."""


def _terms(value: TermCounts | NgramCounts, sizes: Sizes) -> str:  # noqa: ARG001
    return "" if value.counts.max(initial=0.0) < MOST_COUNT else "has counts without a finite sum"


def _ngrams(value: NgramCounts, sizes: Sizes) -> str:
    """Bytes have BOS before them and nowhere else, and EOT at their end and nowhere else."""
    from suffice.kernels.ngrams.texts import BITS, BOS, EOT, LONGEST

    if why := _terms(value, sizes):
        return why
    if not 1 <= value.order <= LONGEST:
        return f"counts n-grams of {value.order} symbols"
    if value.keys.size and int(value.keys[-1]) >= 1 << BITS * value.order:
        return "has n-grams that are longer than its order"
    begun = np.zeros(len(value.keys), dtype=bool)
    for place in reversed(range(value.order)):
        symbols = (value.keys >> np.uint64(BITS * place)) & np.uint64((1 << BITS) - 1)
        strange = (symbols > EOT) | ((symbols == EOT) & (place > 0))
        strange |= (symbols == BOS) & (begun | (place == 0))
        if strange.any():
            return "has n-grams of no text"
        begun |= symbols != BOS
    return ""


def _text(value: Any, sizes: Sizes) -> str:
    """Counts are of the families that are told, class by class; the calibration is of both."""
    given = [(value.terms, value.term_counts, "TermCounts"),
             (value.language, value.ngram_counts, "NgramCounts")]  # fmt: skip
    many = sum(family is not None for family, _, _ in given)
    if value.smoothing > MOST_SMOOTHING:
        return f"is smoothed by {value.smoothing:g}"
    if many == 0 or (value.factors is None) != (value.shifts is None):
        return "has no event model, or half a calibration"
    if value.factors is not None and (sizes["m"] != many or value.factors.max() > MOST_FACTOR):
        return "has a calibration of other event models"
    if value.factors is None and many > 1:
        return "has two event models, but no weights for them"
    for family, counts, kind in given:
        if (family is None) != (counts is None):
            return "has counts of other event models"
        if counts is None:
            continue
        if tuple(counts.labels) != value.labels:
            return "has counts of other classes"
        for label, weight in zip(value.labels, value.weights.tolist(), strict=True):
            group = counts.groups[label]
            if type(group).__name__ != kind or group.weight != weight or weight <= 0.0:
                return "has counts of other documents"
            if kind == "NgramCounts" and group.order != family.order:
                return "has n-grams of another order"
    once = value.terms is not None and value.terms.counts_once
    if once and any(exceeds(g.counts, g.weight) for g in value.term_counts.groups.values()):
        return "has terms in more documents than there are"
    return priors(value, sizes)


TEXT_RULES: dict[str, Callable[[Any, Sizes], str]] = {
    "NgramCounts": _ngrams,
    "TermCounts": _terms,
    "TextRecord": _text,
}
"""What `RULES` is, for text: these rules need the forms of this module."""
