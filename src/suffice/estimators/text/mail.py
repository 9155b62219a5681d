"""A mail filter as an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadFile
from suffice.estimators.text.classifier import TextClassifier
from suffice.mail.filter.calibration import statistics_of
from suffice.mail.filter.database import refusals
from suffice.mail.filter.message_identity import LIMIT, ORDER, TOKENS
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import LABELS

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.rows import Label


def mail_classifier(path: str | Path) -> TextClassifier:
    """Return the classifier of a filter's statistics, which it estimates anew."""
    with MailState(path) as state, refusals(path), state.at_once():
        summary, statistics = state.summary, statistics_of(state)
    if summary.missing is not None:
        raise BadFile(
            f"{path} has learned no {summary.missing}",
            hint=f"suffice mail correct … --{summary.missing} teaches it some",
        )
    priors: dict[Label, float] | None = None
    if summary.told != summary.documents:  # some were judged right, and by the policy not learned
        priors = {
            label: n / sum(summary.told) for label, n in zip(LABELS, summary.told, strict=True)
        }
    model = TextClassifier(
        "both", ngrams=TOKENS.ngrams, lower=TOKENS.lower, order=ORDER, limit=LIMIT, priors=priors
    )
    # What it knows besides its statistics is the same whatever the texts are.
    model.fit(list(LABELS), list(LABELS))
    model._become(model._require().with_statistics(statistics))
    return model
