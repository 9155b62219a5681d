"""Phrases that were hard to read do not come back, in any sentence of the package or its pages."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.reference.sentences import sentences

GONE = (
    "does not begin like one",
    "Folders are not made",
    "Parts of the rows",
    "By default it is found out",
    "learned apart",
    "fitted apart",
    "told likewise",
    "cannot make rows up",
    "it says nothing about p(x)",
    "its coefficients are no sums",
    "no table that is known",
    "Not to be told from the best",
    "tell nothing about other rows",
    "as good as none",
    "loses less by",
    "middling certainty",
    "negatives taken for positives",
    "thing to worry about",
    "To worry about",
)
"""Each had to be read twice; what stands there now is plain."""


def test_the_list_of_sentences_has_those_of_every_kind() -> None:
    found = {sentence.text for sentence in sentences()}
    assert any("is not a model file" in text for text in found)  # a refusal
    assert any(text.startswith("Learn a model from TABLE") for text in found)  # help of a command
    assert any("Number of cross-validation folds" in text for text in found)  # of an option


@pytest.mark.parametrize("phrase", GONE)
def test_hard_phrases_do_not_come_back(phrase: str) -> None:
    said = [f"{one.file}:{one.line}" for one in sentences() if phrase in one.text]
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    written = [page.name for page in pages if phrase in " ".join(page.read_text("utf-8").split())]
    assert [*said, *written] == []
