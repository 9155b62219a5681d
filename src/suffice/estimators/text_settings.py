"""The settings of a classifier of texts: the learner they make, and what may not change later."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.text.language import Language
from suffice.models.text.term_events import BOOLEAN, EVENTS
from suffice.models.text.terms import Terms
from suffice.models.text.learner import TextLearner
from suffice.models.text.tokens import Tokens

LANGUAGE, BOTH = "language", "both"
DOCUMENTS = "smoothing or calibrated"
"""The settings that decide whether some documents are kept."""

Reading = dict[str, Any]
"""All that statistics depend on, by the name of the setting that decides it."""


def learner_of(estimator: Any) -> TextLearner:
    """Return the settings of an estimator as a learner; what has no meaning is refused."""
    event, known = estimator.event, (*EVENTS, LANGUAGE, BOTH)
    if not isinstance(event, str) or event not in known:
        raise BadSetting(f"event={event!r} is not known", hint=f"use one of {', '.join(known)}")
    for name in ("lower", "calibrated"):
        value = getattr(estimator, name)
        if not isinstance(value, (bool, np.bool_)):
            raise BadSetting(f"{name}={value!r} is neither True nor False", hint="True is usual")
    terms = language = None
    if event != LANGUAGE:
        tokens = Tokens(estimator.ngrams, bool(estimator.lower))
        terms = Terms(BOOLEAN if event == BOTH else event, tokens)
    if event in (LANGUAGE, BOTH):
        language = Language(estimator.order, estimator.limit)
    return TextLearner(terms, language, estimator.smoothing, bool(estimator.calibrated))


def reading_of(learner: TextLearner) -> Reading:
    """Return how documents are read and counted."""
    terms, language = learner.terms, learner.language
    return {
        "event": (terms and terms.counts_once, language is not None),
        "ngrams": terms and terms.tokens.ngrams,
        "lower": terms and terms.tokens.lower,
        "order": language and language.order,
        "limit": language and language.limit,
        DOCUMENTS: learner.keeps_documents,
    }


def check_reading(before: Reading | None, now: Reading) -> None:
    """Refuse settings that would read documents otherwise than those that were learned."""
    for name, value in (before or now).items():
        if now[name] != value:
            raise BadSetting(
                f"{name} was set otherwise when the documents were read",
                hint="set it back, or fit again: other statistics are needed for it",
            )
