"""The settings of a TextVectorizer: which there are, and which go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.text.terms_of_documents import TermsOfDocuments
from suffice.text import TfIdf, Tokens

if TYPE_CHECKING:
    from suffice.text import Vocabulary

WEIGHTINGS = (None, "tf", "tf-idf", "notes")
"""What `weighting` may be; "notes" is the formula of the lecture notes."""

MOST_COLUMNS = 2**28
"""Columns by hashing: their counts of documents then take 2 GB."""


def weighting_of(settings: Any) -> TfIdf:
    """Return how the counts become weights."""
    if settings.weighting == "notes":
        return TfIdf.notes()
    use_idf = settings.weighting != "tf"
    return TfIdf(use_idf, bool(settings.smooth_idf), bool(settings.sublinear_tf), settings.norm)


def terms_of(settings: Any) -> TermsOfDocuments:
    """Return how documents are cut into terms."""
    tokens = Tokens(settings.ngrams, settings.lower)
    return TermsOfDocuments(tokens, _stop_words(settings.stop_words), settings.analyzer)


def first_vocabulary(settings: Any) -> Vocabulary:
    """Return the terms of the columns before any document: those given, in their order, or none."""
    given = settings.vocabulary
    if given is None:
        return terms_of(settings).vocabulary()
    if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
        raise BadSetting(
            f"vocabulary is {given!r:.60}, not a list of terms",
            hint='use for instance vocabulary=["spam", "ham"]',
        )
    terms = _in_order(given)
    found = terms_of(settings).vocabulary(terms)
    if not terms or len(found) < len(terms):
        counts = Counter(terms)
        twice = next((term for term in terms if counts[term] > 1), None)
        raise BadSetting(
            "vocabulary is empty" if not terms else f"vocabulary has {twice!r:.60} twice",
            hint="give each term once: it is the name of one column",
        )
    return found


def _in_order(given: Collection[str]) -> list[str]:
    """Return terms in the order of their columns: as given, by number, or sorted if in a set."""
    if isinstance(given, (set, frozenset)):
        return sorted(given)
    if not isinstance(given, Mapping):
        return list(given)
    terms = sorted(given, key=given.__getitem__)
    for number, term in enumerate(terms):
        if given[term] != number:
            raise BadSetting(
                f"vocabulary has no term for column {number}, and {given[term]!r} for {term!r:.60}",
                hint="number the terms 0, 1, 2, … each once, or give a list",
            )
    return terms


def _stop_words(given: Any) -> frozenset[str]:
    if given is None:
        return frozenset()
    words = [given] if isinstance(given, (str, bytes)) else given
    if isinstance(given, (str, bytes)) or not all(isinstance(word, str) for word in words):
        raise BadSetting(
            f"stop_words is {given!r:.60}, not a list of words",
            hint='use stop_words=["the", "of"]; there is no built-in list: languages differ',
        )
    return frozenset(words)


def check_settings(settings: Any) -> None:
    """Refuse settings outside their range, or that do not go together."""
    terms_of(settings)
    _check_weighting(settings)
    _check_columns(settings)
    _check_length(settings)
    if settings.dtype is None:
        return
    if np.dtype(settings.dtype).kind not in "iuf":
        raise BadSetting(f"dtype is {settings.dtype!r}", hint="use float64, float32 or int64")
    weights = settings.weighting is not None or settings.length is not None
    if weights and np.dtype(settings.dtype).kind != "f":
        raise BadSetting(
            f"weights are not whole numbers, and dtype is {settings.dtype!r}",
            hint="use float64 or float32",
        )


def _check_weighting(settings: Any) -> None:
    if settings.weighting not in WEIGHTINGS:
        raise BadSetting(
            f"weighting is {settings.weighting!r}",
            hint="use None (counts), 'tf', 'tf-idf' or 'notes'",
        )
    weighting_of(settings)  # knows its norms
    plain = settings.smooth_idf and not settings.sublinear_tf and settings.norm == "l2"
    if settings.weighting in (None, "notes") and not plain:
        raise BadSetting(
            f"weighting={settings.weighting!r} has no smooth_idf, sublinear_tf or norm",
            hint="these belong to weighting='tf-idf'",
        )


def _check_length(settings: Any) -> None:
    """Refuse a length that no document can be scaled to."""
    length = settings.length
    if length is None:
        return
    number = isinstance(length, Real) and not isinstance(length, bool)
    if not number or not 0.0 < float(length) < np.inf:
        raise BadSetting(
            f"length is {length!r}", hint="use a number of words, such as 100, or None"
        )
    if settings.weighting is not None:
        raise BadSetting(
            f"length scales counts, and weighting={settings.weighting!r} replaces the counts",
            hint="use weighting=None with length",
        )


def _check_columns(settings: Any) -> None:
    for name in ("min_count", "max_terms", "hashing"):
        value = getattr(settings, name)
        if value is None and name != "min_count":
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise BadSetting(f"{name} is {value!r}", hint="use a whole number from 1")
    if settings.hashing is not None and settings.hashing > MOST_COLUMNS:
        raise BadSetting(
            f"hashing is {settings.hashing!r}, and a count of documents is kept for every column",
            hint="use at most 2**28, or suffice.text.hash_terms, which keeps no such counts",
        )
    share = settings.max_share
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) <= 1:
        raise BadSetting(
            f"max_share is {share!r}", hint="use a share of the documents: above 0, at most 1"
        )
    chosen = [
        name
        for name, plain in (("min_count", 1), ("max_share", 1.0), ("max_terms", None))
        if getattr(settings, name) != plain
    ]
    for name, reason in (("hashing", "stores no terms"), ("vocabulary", "has already chosen them")):
        if chosen and getattr(settings, name) is not None:
            raise BadSetting(
                f"{chosen[0]} chooses terms, and {name} {reason}",
                hint=f"leave {chosen[0]} out, or use {name}=None",
            )
    if settings.hashing is not None and settings.vocabulary is not None:
        raise BadSetting("hashing and vocabulary exclude each other", hint="use one of them")
    first_vocabulary(settings)
