"""What the models are that are compared, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.report.markup import name, table, text

if TYPE_CHECKING:
    from suffice.evaluation import Candidate, Comparison

WORDS = {
    "naive-bayes-shared": (
        "Columns are independent within a class; numbers are normal, with the same spread in every "
        "class. Its boundaries are flat where all columns are numbers."
    ),
    "naive-bayes": (
        "Columns are independent within a class, each with a law of its own kind and its own "
        "spread. Blank cells are left out."
    ),
    "gda": (
        "Rows of a class are normal around its mean, with one covariance for all classes (LDA). "
        "Boundaries are flat. Blank cells are integrated out."
    ),
    "qda": (
        "Rows of a class are normal, each class with a covariance of its own (QDA). Boundaries are "
        "curved. Many parameters: it wants many rows."
    ),
    "gda-auto": (
        "Between one covariance and one for each class: how much is shared and how far "
        "correlations shrink is chosen by leave-one-out."
    ),
    "logistic": (
        "The odds of the classes are linear in the columns; nothing is assumed about how rows of "
        "a class are distributed. As good as no penalty."
    ),
    "logistic-penalty": (
        "The odds of the classes are linear in the columns, and large slopes cost a penalty: that "
        "keeps it steady where there are few rows or the classes are nearly separated."
    ),
}
"""What each of the usual candidates assumes."""


def models_section(comparison: Comparison) -> str:
    """Return a table of the candidates: school, and what is assumed."""
    rows = [
        (_named(one, comparison), one.school or "–", _words(one)) for one in comparison.candidates
    ]
    return (
        "<p>Generative models learn how each class makes its rows, p(x | y), and turn that round "
        "by Bayes’ rule; discriminative ones learn p(y | x) alone.</p>"
        + table(("model", "school", "what it assumes"), rows, kind="stacked")
    )


def _named(one: Candidate, comparison: Comparison) -> str:
    said = name(one.name)
    return f"<strong>{said}</strong>" if one.name == comparison.recommendation.model else said


def _words(one: Candidate) -> str:
    if one.key in WORDS:
        return text(WORDS[one.key])
    settings = " ".join(repr(one.estimator).split())
    return f"<code>{name(settings, 120)}</code>"
