"""The order in which people read the levels of a category: their own, where they have one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SCALES: tuple[tuple[str, ...], ...] = (
    ("january", "february", "march", "april", "may", "june", "july", "august", "september",
     "october", "november", "december"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("strongly disagree", "disagree", "somewhat disagree", "neither agree nor disagree", "neutral",
     "somewhat agree", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("none", "very low", "low", "medium", "moderate", "high", "very high"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("very bad", "bad", "ok", "good", "very good"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "3xl"),
    ("tiny", "small", "medium", "large", "huge"),
    ("primary", "secondary", "tertiary"),
    ("first", "second", "third", "fourth", "fifth"),
    ("trace", "mild", "moderate", "severe", "very severe"),
    ("sehr niedrig", "niedrig", "gering", "mittel", "hoch", "sehr hoch"),
    ("klein", "mittel", "groß", "sehr groß"),
    ("nie", "selten", "manchmal", "gelegentlich", "oft", "häufig", "meistens", "immer"),
    ("stimme gar nicht zu", "stimme nicht zu", "stimme eher nicht zu", "teils/teils",
     "weder noch", "stimme eher zu", "stimme zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september",
     "oktober", "november", "dezember"),
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    ("très faible", "faible", "moyen", "moyenne", "élevé", "élevée", "fort", "très élevé"),
    ("petit", "moyen", "grand", "très grand"),
    ("jamais", "rarement", "parfois", "souvent", "toujours"),
    ("pas du tout d'accord", "pas d'accord", "plutôt pas d'accord", "neutre", "plutôt d'accord",
     "d'accord", "tout à fait d'accord"),
    ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    ("muy bajo", "bajo", "medio", "alto", "muy alto"),
    ("pequeño", "mediano", "grande"),
    ("nunca", "raramente", "rara vez", "a veces", "a menudo", "casi siempre", "siempre"),
    ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    ("molto basso", "basso", "medio", "alto", "molto alto"),
    ("piccolo", "medio", "grande"),
    ("mai", "raramente", "a volte", "spesso", "sempre"),
    ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"),
    ("no", "yes"),
    ("false", "true"),
)  # fmt: skip
"""Scales that questionnaires and spreadsheets use, each in its order; read by `level_order`."""
_FOLDED = tuple(tuple(word.casefold() for word in scale) for scale in SCALES)  # as levels are
NUMBER = re.compile(r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number in a level: 200, 1,500, -3.5."""
MOSTLY = 0.5
"""The share of levels that have to hold a number for numbers to order them all: "unknown" may
stand beside ranges."""


def level_order(levels: Iterable[object]) -> list[object]:
    """Return levels in the order people read them in.

    Levels of a known scale (weekdays, low … high, disagree … agree) come in its order; levels with
    numbers in them by their first number, "<" before and ">" after a number alone, and those
    without one last; all others by the alphabet. A blank (None) is always last.

    >>> level_order([">=200", "<0", "no account", "0<=X<200"])
    ['<0', '0<=X<200', '>=200', 'no account']
    >>> level_order(["agree", "neutral", "disagree"]), level_order(["b", None, "a"])
    (['disagree', 'neutral', 'agree'], ['a', 'b', None])
    """
    every = list(levels)
    there = [level for level in every if level is not None]
    blanks = [level for level in every if level is None]
    found = own_order(there)
    return (sorted(there, key=str) if found is None else found) + blanks


def own_order(levels: Iterable[object]) -> list[object] | None:
    """Return levels in their own order; None where they have none but that of the alphabet.

    >>> own_order(["hoch", "niedrig", "mittel"]), own_order(["red", "blue"])
    (['niedrig', 'mittel', 'hoch'], None)
    """
    there = list(levels)
    words = {id(level): str(level).strip().casefold() for level in there}
    for scale in _FOLDED:
        if len(there) > 1 and set(words.values()) <= set(scale):
            return sorted(there, key=lambda level: scale.index(words[id(level)]))
    numbers = {id(level): _first_number(str(level)) for level in there}
    if sum(found is not None for found in numbers.values()) <= MOSTLY * len(there):
        return None

    def key(level: object) -> tuple[bool, float, int, str]:
        found = numbers[id(level)]
        return (found is None, *(found or (0.0, 0)), str(level))

    return sorted(there, key=key)


def _first_number(word: str) -> tuple[float, int] | None:
    """Return the first number of a level, and -1, 0 or 1: below it, it, or above it."""
    found = NUMBER.search(word)
    if found is None:
        return None
    start = found.start()
    digits = found[0].replace(",", "").replace("−", "-")
    if start and digits[0] in "-+" and word[start - 1].isalnum():  # a dash between words
        digits = digits[1:]
    before, after = word[:start].casefold(), word[found.end() :].strip()[:1]
    side = 0
    if "<" in before or "≤" in before or "under" in before or "less" in before:
        side = -1
    elif ">" in before or "≥" in before or "over" in before or "more" in before or after == "+":
        side = 1
    return float(digits), side
